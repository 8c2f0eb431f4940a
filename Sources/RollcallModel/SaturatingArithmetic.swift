// Times and durations come from Redis too, where anybody may write anything: a sum that does not fit is as far as can
// be, and ends no worker.

extension Int64 {
    /// The sum, or the nearest number that there is.
    package func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    package func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
