// Refused requests: no token, a wrong token, or a role without permission. Each is counted, and each reason is logged
// at most once a minute, so that guessed tokens show in the log but cannot flood it.

import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import RollcallShards

/// Counts and logs refused requests.
final class AdminRefusals: Sendable {
    private static let silence = TimeAmount.seconds(60)

    /// What was logged for one reason.
    private struct State {
        var unlogged = 0
        var logged: NIODeadline?
    }

    private let states = NIOLockedValueBox<[AdminProblem.Code: State]>([:])
    private let counters: [AdminProblem.Code: any CounterHandler]
    private let logger: Logger

    init(_ factory: any MetricsFactory, logger: Logger) {
        counters = Dictionary(
            uniqueKeysWithValues: [AdminProblem.Code.unauthorized, .forbidden].map { code in
                (
                    code,
                    factory.makeCounter(label: Metric.adminRefused.rawValue, dimensions: [("reason", code.rawValue)])
                )
            })
        self.logger = logger
    }

    /// Records a refused request.
    func occurred(_ code: AdminProblem.Code, from remote: SocketAddress?, now: NIODeadline = .now()) {
        counters[code]?.increment(by: 1)
        let count: Int? = states.withLockedValue { states in
            var state = states[code, default: State()]
            defer { states[code] = state }
            state.unlogged += 1
            if let logged = state.logged, now - logged < Self.silence { return nil }
            defer { (state.unlogged, state.logged) = (0, now) }
            return state.unlogged
        }
        guard let count else { return }
        logger.warning(
            "admin requests refused",
            metadata: [
                "count": "\(count)", "reason": "\(code.rawValue)",
                "remote": "\(remote?.ipAddress ?? "unknown")",
            ])
    }
}
