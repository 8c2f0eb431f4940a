// How the end of a connection is told to people. What the network says of it is right and of little help where two sides
// do not speak the same language; so what is likely is said as well.

extension RedisError {
    static let primaryChanged = RedisError(.primaryChanged, "the primary is another server now")

    /// No connection came to be.
    static func noConnection(to destination: Destination?, _ error: any Error) -> RedisError {
        let place = destination.map { "\($0.location)" } ?? "where it was looked for"
        let advice = (error as? TLSFailure).map { " (\($0.advice))" } ?? ""
        return RedisError(.connectFailed, "no connection to Redis at \(place): \(error)\(advice)", underlying: error)
    }

    /// A connection that stood has ended.
    ///
    /// - Parameter heard: whether anything was said on it.
    static func ended(_ destination: Destination?, _ error: (any Error)?, heard: Bool) -> RedisError {
        let isEncrypted = destination?.tls != nil
        let cause = isEncrypted ? error.map(TLSFailure.explaining) : error
        var sentence = "the connection to Redis ended" + (cause.map { ": \($0)" } ?? "")
        if let failure = cause as? TLSFailure { sentence += " (\(failure.advice))" }
        // Who expects TLS hangs up on whoever does not speak it.
        if !isEncrypted, !heard { sentence += ", before anything was said (for a port with TLS, take rediss://)" }
        return RedisError(.connectionLost, sentence, underlying: cause)
    }
}

extension TLSFailure {
    /// The error in our words, where it is one of those that an operator can mend.
    static func explaining(_ error: any Error) -> any Error {
        let failure = TLSFailure(error)
        if case .other = failure.reason { return error }
        return failure
    }
}
