// How sessions end, whatever the cause.

import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct SessionEndTests {
    static let ends: [SessionEnd] = [
        .goodbye, .violation(.protocolError, because: "?"), .draining(to: "wss://w2"), .slow, .busy(),
        .busy(.unknownKey),
        .late, .badToken(because: "?"), .revoked(), .revoked(isFresh: true), .tokenExpired(), .badMessage(), .flood,
        .replaced, .tooManySessions, .sentAway,
    ]

    @Test("a device that is gone is offline at once, any other after its grace period, but for one of another session")
    func device() {
        for end in Self.ends {
            let stage = Stage()
            let key = stage.enter("alice")
            stage.settle()
            stage.event { $0.end(key, end, at: $1) }
            stage.settle()
            let status = { stage.redis.record(of: "alice").presence(past: [:]).status }
            #expect(stage.closed == [key: end.code] && status() == (end.device == .isGone ? .offline : .online))
            stage.pass(stage.shard.loop.settings.removal)
            #expect(status() == (end.device == .belongsToAnother ? .online : .offline), "\(end)")
            #expect(key.isOver && stage.leftovers.isEmpty)
        }
    }

    @Test("a session that was not welcomed yet leaves nothing, however it ends", arguments: ends)
    func unwelcomed(end: SessionEnd) {
        let stage = Stage()
        let key = stage.connect()
        stage.event { $0.end(key, end, at: $1) }
        #expect(stage.closed == [key: end.code] && key.isOver && stage.leftovers.isEmpty)
    }

    @Test("the farewell says whether to come back as the code does, but for an expired token: a fresh one helps")
    func comesBack() {
        for end in Self.ends {
            guard let farewell = end.farewell else { continue }
            #expect(farewell.reconnect == (end.code.mayReconnect || end.code == .tokenExpired), "\(end)")
        }
    }
}
