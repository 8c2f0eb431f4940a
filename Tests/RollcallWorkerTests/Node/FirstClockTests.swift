// What a worker uses as Redis's time before the first heartbeat, when sessions are already welcomed.

import Logging
import NIOCore
import NIOPosix
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The clock before the first heartbeat")
struct FirstClockTests {
    @Test("before Redis is reached, Redis's time is the host's")
    func hostTime() async throws {
        var configuration = WorkerConfiguration()
        configuration.auth.mode = .insecure
        let logger = Logger(label: "clock") { _ in SwiftLogNoOpLogHandler() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let authenticator = try Authenticator(configuration.auth, logger: logger)
        let node = try await Node(
            NodeSettings(configuration), authenticator: authenticator, group: group, logger: logger)
        let loop = group.next()
        let time = try await loop.submit {
            let driver = node.shard(on: loop)
            return driver.shard.redis.time(at: driver.now)
        }.get()
        try await group.shutdownGracefully()
        #expect(time > Timestamp.hostTime.advanced(by: .seconds(-60)) && time <= .hostTime)
    }
}
