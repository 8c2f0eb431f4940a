// Why a worker that is configured well does not serve all the same.

internal import RollcallRedis

/// Something that a worker needs is not there: a port, or Redis. Trying again later may help.
public struct CannotServe: Error, CustomStringConvertible {
    /// A sentence that says what is missing and what to do.
    public let description: String

    static func noRedis(_ location: RedisLocation, reason: RedisError?) -> CannotServe {
        let reason = reason.map { "\($0)" } ?? "no answer"
        return CannotServe(
            description: "no Redis at \(location) (\(reason)): start one, or set redis.url to where it is")
    }
}
