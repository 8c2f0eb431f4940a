// Unusual but valid names, end to end: through both ports, Redis, the command line and a sweep.

import Foundation
import Harness
import NIOCore
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Unusual names", .timeLimit(.minutes(3)))
struct UnusualNamesTests {
    private let names =
        NastyNames.joiningBefore.prefix(3) + NastyNames.joiningBehind.prefix(1)
        + [NastyNames.canonicallyEqual[0].0, NastyNames.canonicallyEqual[0].1, NastyNames.longest[1]]
        + ["__proto__", "\u{202E}ecila", "a/b"]

    private func encoded(_ name: String) -> String {
        name.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func object(_ fields: [(String, String)]) -> String {
        "{" + fields.map { "\(String(decoding: $0.0.jsonText, as: UTF8.self)):\"\($0.1)\"" }.joined(separator: ",")
            + "}"
    }

    @Test("connect, reconnect, type, and are watched, disconnected and swept like all others")
    func sessions() async throws {
        let deployment = try await Deployment(workers: 2, settings: ["worker.lease": "3s"])
        let (one, two) = (deployment.workers[0], deployment.workers[1])
        let observer = try await one.device("observer", "desk")
        let users = try names.map { try UserID($0) }
        for (name, user) in zip(names, users) {
            let conversation = try ConversationID(name)
            let older = try await one.device(name, name)
            try await older.ask(.state(.active))
            let newer = try await two.device(name, name)
            #expect(try await older.closed() == .replaced, "\(name.debugDescription)")
            #expect(try await newer.ask(.join(conversation, presence: false)) == nil)
            #expect(try await newer.ask(.typing(conversation, true)) == nil)
            #expect(try await observer.ask(.join(conversation, presence: false)) == nil)
            #expect(try await observer.typing(in: conversation)?.users.map(\.user) == [user], "the user is in it")
            let away = try await one.ask(
                "DELETE", "/v1/users/\(encoded(name))/sessions?device=\(encoded(name))")
            #expect(away.status == 200)
            #expect(try await newer.closed() == .sentAway, "\(name.debugDescription)")
        }
        #expect(try await observer.ask(.watch(users)) == nil)
        var devices: [WireDevice] = []
        for name in names { devices.append(try await two.device(name, name)) }
        try await eventually("all are online") {
            try await statuses(observer).count { $0.value == .online } == names.count
        }
        two.crash()
        try await eventually("all were swept") {
            try await statuses(observer).count { $0.value == .offline } == names.count
        }
        try await eventually("and the list is gone") {
            try await !deployment.redis.keys().contains { $0.hasSuffix(":sessions") && $0.contains(two.incarnation) }
        }
        _ = devices
    }

    private func statuses(_ observer: WireDevice) async throws -> [UserID: PresenceStatus] {
        try await observer.look()
        var statuses: [UserID: PresenceStatus] = [:]
        for case .presence(let users, _) in observer.messages {
            for presence in users { statuses[presence.user] = presence.status }
        }
        return statuses
    }

    @Test("are separate members, and are returned by HTTP")
    func overHTTP() async throws {
        let deployment = try await Deployment(workers: 1)
        let worker = deployment.workers[0]
        let conversation = "/v1/conversations/\(encoded("\u{301}c"))/members"
        let all = names.enumerated().map { ($0.element, "Name \($0.offset)") }
        #expect(try await worker.ask("PUT", conversation, "{\"members\":\(object(all))}").status == 204)
        let sorted = all.sorted { Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8)) }
        let told = try await worker.ask("GET", conversation)
        #expect(String(decoding: told.body, as: UTF8.self).utf8.elementsEqual("{\"members\":\(object(sorted))}".utf8))
        #expect(try await worker.ask("DELETE", "\(conversation)/\(encoded(names[0]))").status == 204)
        let left = try await worker.ask("GET", conversation)
        #expect(
            String(decoding: left.body, as: UTF8.self).utf8.elementsEqual(
                "{\"members\":\(object(sorted.filter { !Array($0.0.utf8).elementsEqual(names[0].utf8) }))}".utf8))

        var devices: [WireDevice] = []
        for name in names {
            let device = try await worker.device(name, name)
            try await device.ask(.state(.active))
            devices.append(device)
        }
        let users = "[" + names.map { String(decoding: $0.jsonText, as: UTF8.self) }.joined(separator: ",") + "]"
        let presence = try await worker.ask("POST", "/v1/presence", "{\"users\":\(users)}")
        let text = String(decoding: presence.body, as: UTF8.self)
        #expect(text.components(separatedBy: "\"status\":\"online\"").count == names.count + 1)
        for name in names {
            for arguments in [["explain", name], ["send-away", name, "--device=\(name)"], ["erase", name, "--yes"]] {
                // No user can be erased before one lease has passed since the worker's start.
                try await eventually("\(arguments) is done") {
                    let command = try ChildProcess([RollcallProgram.path] + arguments + ["--admin", worker.admin])
                    return try await command.exitCode() == 0
                }
            }
        }
        _ = devices
    }
}

extension WorkerProcess {
    /// Sends a request to the admin port.
    func ask(_ method: String, _ path: String, _ json: String? = nil) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: try #require(URL(string: admin + path)))
        request.httpMethod = method
        request.httpBody = json.map { Data($0.utf8) }
        if json != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (answer, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, answer)
    }
}
