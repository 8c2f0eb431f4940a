// Log lines about problems with Redis that every connection has, and that may repeat many times a second.

internal import Logging
internal import NIOConcurrencyHelpers
internal import RollcallRedis

/// Logs each kind of problem of a worker at most once a minute, with the reason that Redis gave.
final class ProblemLog: Sendable {
    let logger: Logger
    private let isOfCluster: Bool
    private let told = NIOLockedValueBox<[ProblemKind: RepeatedProblem]>([:])

    private struct ProblemKind: Hashable {
        let message: String
        let code: RedisError.Code
    }

    private let onDenied: @Sendable () -> Void
    private let lastMissing = NIOLockedValueBox<RedisError?>(nil)

    /// Why a connection was last missing.
    var missing: RedisError? { lastMissing.withLockedValue { $0 } }

    /// - Parameter onDenied: Called at each denial, on any thread.
    init(_ logger: Logger, ofCluster isOfCluster: Bool, onDenied: @escaping @Sendable () -> Void = {}) {
        (self.logger, self.isOfCluster, self.onDenied) = (logger, isOfCluster, onDenied)
    }

    func warning(_ message: Logger.Message, _ error: RedisError) {
        if isNew("\(message)", error) { logger.log(level: .warning, message, metadata: ["reason": "\(error)"]) }
    }

    /// A connection is missing, on any event loop. After each attempt: a log line for each reason once a minute.
    func unreachable(_ primary: RedisLocation.Address, _ error: RedisError) {
        lastMissing.withLockedValue { $0 = error }
        guard isNew("unreachable \(error)", error) else { return }
        logger.warning(
            "a primary of Redis cannot be reached", metadata: ["primary": "\(primary)", "reason": "\(error)"])
    }

    /// A right was revoked while the worker runs.
    func denied(_ error: RedisError) {
        guard isNew("denied \(error)", error) else { return }
        onDenied()
        logger.error(
            "Redis does not allow what a worker does",
            metadata: ["reason": "\(error)", "rights": "\(RedisDeployment.rightsFile(ofCluster: isOfCluster))"])
    }

    private func isNew(_ message: String, _ error: RedisError) -> Bool {
        told.withLockedValue {
            $0[ProblemKind(message: message, code: error.code), default: RepeatedProblem()].occurred("", at: .now)
        }
    }
}
