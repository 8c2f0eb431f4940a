// Times and durations also come from Redis, where other programs can write any value. A result that does not fit
// becomes the nearest limit instead of ending the worker.

extension Int64 {
    /// The sum, or the nearest number that fits.
    package func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that fits.
    package func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
