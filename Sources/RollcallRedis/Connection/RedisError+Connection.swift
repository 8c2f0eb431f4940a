// Error messages about the end of a connection. The network's own error is correct, but of little help if two sides
// speak different protocols, so the likely cause is added.

extension RedisError {
    static let primaryChanged = RedisError(.primaryChanged, "the primary is another server now")

    /// Returns the error for a connection attempt that failed.
    static func noConnection(to destination: Destination?, _ error: any Error) -> RedisError {
        let place = destination.map { "\($0.location)" } ?? "where it was looked for"
        let advice = (error as? TLSFailure).map { " (\($0.advice))" } ?? ""
        return RedisError(.connectFailed, "no connection to Redis at \(place): \(error)\(advice)", underlying: error)
    }

    /// Returns the error for an open connection that ended.
    ///
    /// - Parameter heard: whether any data was received.
    static func ended(_ destination: Destination?, _ error: (any Error)?, heard: Bool) -> RedisError {
        let isEncrypted = destination?.tls != nil
        let cause = isEncrypted ? error.map(TLSFailure.explaining) : error
        var sentence = "the connection to Redis ended" + (cause.map { ": \($0)" } ?? "")
        if let failure = cause as? TLSFailure { sentence += " (\(failure.advice))" }
        // A TLS server closes the connection of a client that does not speak TLS.
        if !isEncrypted, !heard { sentence += ", before anything was said (for a port with TLS, take rediss://)" }
        return RedisError(.connectionLost, sentence, underlying: cause)
    }
}

extension TLSFailure {
    /// Returns the error in our own words if it is one that an operator can fix.
    static func explaining(_ error: any Error) -> any Error {
        let failure = TLSFailure(error)
        if case .other = failure.reason { return error }
        return failure
    }
}
