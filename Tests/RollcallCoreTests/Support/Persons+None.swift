import RedisTwin
import RollcallProtocol
import TestSupport

@testable import RollcallCore

extension Persons {
    /// Nobody has decided anything.
    static var none: Persons {
        let state = RedisState(worker: "w", lease: .zero, heartbeat: .zero)
        let loop = Loop(settings: ShardSettings(), store: TwinStore(), redis: state)
        return Persons(
            loop, Outbound(loop),
            SessionTable(random: SeededGenerator(seed: 1)))
    }
}
