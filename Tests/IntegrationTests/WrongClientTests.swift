// Errors of a client end only its session, with the close code on the protocol page.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("A client that breaks the protocol")
struct WrongClientTests {
    @Test("gets an error for an unknown message, and the session continues")
    func unknownMessage() async throws {
        let deployment = try await Deployment(workers: 1)
        let alice = try await deployment.workers[0].device("alice", "phone")
        try await alice.send(text: #"{"type":"dance","id":"d1"}"#)
        try await alice.send(text: #"{"type":"watch","users":"bob","id":7}"#)
        try await alice.send(text: #"{"type":"typing","conversation":"c42","typing":true,"id":8}"#)
        try await eventually("the errors arrive, received: \(alice.messages)") {
            try await alice.look()
            return errors(alice) == [
                .init(code: .unknownType, id: .text("d1")), .init(code: .badRequest, id: .integer(7)),
                .init(code: .notJoined, id: .integer(8)),
            ]
        }
        #expect(try await alice.ask(.join("c42", presence: false)) == nil)
        #expect(alice.close == nil)
    }

    @Test("loses its session, and no other, for text that cannot be a message", arguments: Nonsense.allCases)
    func nonsense(_ nonsense: Nonsense) async throws {
        let deployment = try await Deployment(workers: 1, settings: ["limits.message_bytes": "2048"])
        let bob = try await deployment.workers[0].device("bob", "phone")
        let alice = try await deployment.workers[0].device("alice", "phone")
        let (opcode, payload) = nonsense.frame
        try await alice.send(opcode: opcode, payload)
        #expect(try await alice.closed() == nonsense.code)
        #expect(try await bob.ask(.state(.idle)) == nil)
    }

    @Test("is closed if it does not send hello", arguments: [nil, #"{"type":"ping"}"#])
    func noHello(instead: String?) async throws {
        let deployment = try await Deployment(workers: 1, settings: ["limits.hello": "500ms"])
        let stranger = try await WireDevice(port: deployment.workers[0].port)
        if let instead { try await stranger.send(text: instead) }
        #expect(try await stranger.closed() == (instead == nil ? .late : .badMessage))
        #expect(stranger.messages.contains(.goodbye(.init(reason: .late, reconnect: true))) == (instead == nil))
    }

    @Test("is refused with an invalid or expired token")
    func tokens() async throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString).key")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data(String(repeating: "0123456789abcdef", count: 3).utf8).write(to: secret)
        let deployment = try await Deployment(
            workers: 1, settings: ["auth.mode": "jwt", "auth.secret_file": secret.path, "auth.leeway": "0"])
        let port = deployment.workers[0].port
        let good = try await token(lifetime: "1h", secret: secret)
        let brief = try await token(lifetime: "1s", secret: secret)

        let alice = try await WireDevice(port: port)
        try await alice.hello(token: good, device: "phone")
        #expect(try await alice.welcome()?.user == "alice")
        #expect(try await alice.ask(.join("anybodys", presence: false))?.code == .notAMember, "no claim opens it")
        let opener = try await WireDevice(port: port)
        try await opener.hello(token: try await token(lifetime: "1h", secret: secret, "--join", "any*"), device: "tv")
        #expect(try await opener.welcome()?.join == .only(["any*"]))
        #expect(try await opener.ask(.join("anybodys", presence: false)) == nil)

        let forger = try await WireDevice(port: port)
        try await forger.send(.hello(.init(token: ByteString(good.dropLast(4) + "AAAA"), device: "tablet")))
        #expect(try await forger.closed() == .busy)
        let nobody = try await WireDevice(port: port)
        try await nobody.send(.hello(.init(token: "alice", device: "tablet")))
        #expect(try await nobody.closed() == .badToken)

        try await eventually("the brief token has expired") {
            let late = try await WireDevice(port: port)
            try await late.send(.hello(.init(token: ByteString(brief), device: "tablet")))
            try await eventually("an answer arrives") {
                try await late.look()
                return late.close != nil || !late.messages.isEmpty
            }
            guard late.close?.code == nil else {
                #expect(late.close?.code == .tokenExpired)
                return true
            }
            return false
        }
    }

    @Test("loses its session when its token expires")
    func sessionEndsWithToken() async throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString).key")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data(String(repeating: "0123456789abcdef", count: 3).utf8).write(to: secret)
        let deployment = try await Deployment(
            workers: 1, settings: ["auth.mode": "jwt", "auth.secret_file": secret.path, "auth.leeway": "0"])
        let alice = try await WireDevice(port: deployment.workers[0].port)
        try await alice.hello(token: try await token(lifetime: "2s", secret: secret), device: "phone")
        #expect(try await alice.closed() == .tokenExpired)
    }

    @Test("is refused with a token that lives longer than revocations are kept, unless the configuration permits it")
    func longToken() async throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString).key")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data(String(repeating: "0123456789abcdef", count: 3).utf8).write(to: secret)
        let usual = ["auth.mode": "jwt", "auth.secret_file": secret.path, "presence.retention": "2d"]
        let long = try await token(lifetime: "49h", secret: secret)
        let strict = try await Deployment(workers: 1, settings: usual)
        let refused = try await WireDevice(port: strict.workers[0].port)
        try await refused.send(.hello(.init(token: ByteString(long), device: "phone")))
        #expect(try await refused.closed() == .busy)
        let lenient = try await Deployment(workers: 1, settings: usual.merging(["auth.max_lifetime": "3d"]) { $1 })
        let welcomed = try await WireDevice(port: lenient.workers[0].port)
        try await welcomed.hello(token: long, device: "phone")
        #expect(try await welcomed.welcome()?.user == "alice")
    }

    private func token(lifetime: String, secret: URL, _ others: String...) async throws -> String {
        let minter = try ChildProcess(
            [RollcallProgram.path, "token", "alice", "--lifetime", lifetime, "--secret-file", secret.path] + others)
        #expect(try await minter.exitCode() == 0, "\(minter.errors)")
        try await eventually("the token is read") { minter.outputEnded }
        return minter.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private struct Complaint: Hashable {
        let code: MessageError.Code
        let id: MessageID?
    }

    private func errors(_ device: WireDevice) -> [Complaint] {
        device.messages.compactMap {
            if case .error(let error) = $0 { Complaint(code: error.code, id: error.id) } else { nil }
        }
    }

    enum Nonsense: CaseIterable {
        case notJSON, notAnObject, binary, notUTF8, tooLarge, secondHello, brokenFrame

        var frame: (opcode: UInt8, payload: [UInt8]) {
            switch self {
            case .notJSON: (1, Array("hello?".utf8))
            case .notAnObject: (1, Array("[1]".utf8))
            case .binary: (2, Array(#"{"type":"ping"}"#.utf8))
            case .notUTF8: (1, [0x7B, 0xFF, 0x7D])
            case .tooLarge: (1, [UInt8](repeating: 0x20, count: 2049))
            case .secondHello: (1, Array(#"{"type":"hello","token":"alice","device":"phone"}"#.utf8))
            case .brokenFrame: (3, [])
            }
        }

        var code: CloseCode {
            switch self {
            case .notJSON, .notAnObject, .secondHello: .badMessage
            case .binary: .unsupportedData
            case .notUTF8: .invalidText
            case .tooLarge: .tooBig
            case .brokenFrame: .protocolError
            }
        }
    }
}
