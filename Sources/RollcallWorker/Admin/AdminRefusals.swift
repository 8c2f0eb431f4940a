// Requests without a token, with a wrong one, or with one that is not enough: counted, and each reason logged once a
// minute, so that whoever tries tokens leaves a trace and cannot fill the log.

import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore

/// Counts and logs refused requests.
final class AdminRefusals: Sendable {
    private static let silence = TimeAmount.seconds(60)

    /// What the log has of one reason.
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

    /// A request was refused.
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
