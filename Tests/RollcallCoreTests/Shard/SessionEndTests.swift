// The table of how sessions end, row by row.

import Foundation
import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct SessionEndTests {
    struct Row: Sendable {
        var end: SessionEnd
        var code: UInt16
        var farewell: GoodbyeReason?
        var device: SessionEnd.Device
    }

    static let rows = [
        Row(end: .goodbye, code: 1000, farewell: nil, device: .isGone),
        Row(end: .violation(.protocolError, because: "?"), code: 1002, farewell: nil, device: .keepsPresence),
        Row(end: .violation(.unsupportedData, because: "?"), code: 1003, farewell: nil, device: .keepsPresence),
        Row(end: .violation(.invalidText, because: "?"), code: 1007, farewell: nil, device: .keepsPresence),
        Row(end: .violation(.tooBig, because: "?"), code: 1009, farewell: nil, device: .keepsPresence),
        Row(end: .draining(to: "wss://w2"), code: 4000, farewell: .draining, device: .keepsPresence),
        Row(end: .slow, code: 4001, farewell: .slow, device: .keepsPresence),
        Row(end: .busy(), code: 4002, farewell: .busy, device: .keepsPresence),
        Row(end: .busy(.unknownKey), code: 4002, farewell: .unknownKey, device: .keepsPresence),
        Row(end: .late, code: 4003, farewell: .late, device: .keepsPresence),
        Row(end: .badToken(because: "?"), code: 4100, farewell: nil, device: .keepsPresence),
        Row(end: .revoked(), code: 4100, farewell: nil, device: .isGone),
        Row(end: .revoked(isFresh: true), code: 4101, farewell: .expired, device: .isGone),
        Row(end: .tokenExpired(), code: 4101, farewell: .expired, device: .keepsPresence),
        Row(end: .badMessage(), code: 4102, farewell: nil, device: .keepsPresence),
        Row(end: .flood, code: 4103, farewell: .limit, device: .keepsPresence),
        Row(end: .replaced, code: 4104, farewell: .replaced, device: .belongsToAnother),
        Row(end: .tooManySessions, code: 4105, farewell: .limit, device: .keepsPresence),
        Row(end: .sentAway, code: 4106, farewell: .sentAway, device: .isGone),
    ]

    @Test("each end has its code, its farewell, and its effect on the device", arguments: rows)
    func played(row: Row) throws {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.event { $0.end(key, row.end, at: $1) }
        stage.settle()
        #expect(stage.closed == [key: CloseCode(rawValue: row.code)])
        let farewells = stage.heard(by: key).compactMap { message -> GoodbyeReason? in
            if case .goodbye(let goodbye) = message { goodbye.reason } else { nil }
        }
        #expect(farewells == (row.farewell.map { [$0] } ?? []))
        let status = { stage.redis.record(of: "alice").presence(past: [:]).status }
        #expect(status() == (row.device == .isGone ? .offline : .online))
        stage.pass(stage.shard.loop.settings.removal)
        #expect(status() == (row.device == .belongsToAnother ? .online : .offline), "after the grace period")
        #expect(key.isOver && stage.leftovers.isEmpty)
    }

    @Test("a session that was not welcomed yet leaves nothing, however it ends", arguments: rows)
    func unwelcomed(row: Row) {
        let stage = Stage()
        let key = stage.connect()
        stage.event { $0.end(key, row.end, at: $1) }
        #expect(stage.closed == [key: CloseCode(rawValue: row.code)] && key.isOver && stage.leftovers.isEmpty)
    }

    @Test("the farewell says whether to come back as the code does, but for an expired token: a fresh one helps")
    func comesBack() {
        for row in Self.rows {
            guard let farewell = row.end.farewell else { continue }
            #expect(farewell.reconnect == (row.end.code.mayReconnect || row.end.code == .tokenExpired), "\(row.code)")
        }
    }

    @Test("docs/protocol.md lists these codes and no others")
    func documented() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/protocol.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "### Close codes"))
        let end = try #require(text.range(of: "### ", range: start.upperBound..<text.endIndex))
        let listed = text[start.upperBound..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("| ") }
            .flatMap { line in
                line.dropFirst(2).prefix { $0 != "|" }.split(separator: ",").compactMap {
                    UInt16($0.trimmingCharacters(in: .whitespaces))
                }
            }
        #expect(Set(listed) == Set(Self.rows.map(\.code)) && listed.count == Set(listed).count)
    }
}
