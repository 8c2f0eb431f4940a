// What a worker logs about everything that devices, attackers and Redis may do: enough for an operator, and no personal
// data.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("A worker's log")
struct LogTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized
    private static let names = ["zebediah", "quixotic", "jabberwock", "slartibartfast", "foreigner", "Zeb-the-Great"]

    private struct Line: Decodable {
        var level: String
        var message: String
        var metadata: [String: String]?
    }

    @Test("names no user at level info, and contains no token at any level", arguments: ["info", "trace"])
    func discretion(_ level: String) async throws {
        let secrets = try Secrets()
        let deployment = try await Deployment(
            workers: 1,
            settings: [
                "auth.mode": "jwt", "auth.secret_file": secrets.key.path, "admin.token_file": secrets.admin.path,
                "log.format": "json", "log.level": level, "presence.grace": "1s", "worker.drain": "0s",
            ])
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        let tokens = try await play(worker, redis, secrets)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitCode() == 0)
        try await eventually("the log is read") { worker.process.outputEnded }
        let log = worker.process.errors
        for token in tokens { #expect(!log.contains(token), "\(token)") }
        let lines = try log.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        let said = Set(lines.map(\.message))
        for message in [
            "lease begun", "Redis lost", "draining", "a Rollcall key has the wrong type", "tokens are refused",
        ] {
            #expect(said.contains(message), "\(message)")
        }
        for line in lines where !["debug", "trace"].contains(line.level) {
            let text = "\(line.message) \(line.metadata ?? [:])"
            for name in Self.names { #expect(!text.contains(name), "\(text)") }
        }
    }

    @Test("has constant messages, each with its level in the table of docs/troubleshooting.md, which has no others")
    func messages() throws {
        let page = try String(contentsOf: Self.package.appending(path: "docs/troubleshooting.md"), encoding: .utf8)
        let calls = try sources().flatMap {
            $0.matches(of: #/ogger\.(trace|debug|info|notice|warning|error|critical)\(\s*("(?:[^"\\]|\\.)*"|[^"\s])/#)
                .map { (String($0.output.1), String($0.output.2)) }
        }
        #expect(calls.count > 10)
        for (level, message) in calls {
            #expect(message.hasPrefix("\"") && !message.contains("\\("), "\(message)")
            let row = "|`\(message.dropFirst().dropLast())`|\(level)|"
            #expect(page.contains(row), "\(level) \(message)")
        }
        let code = try sources().joined()
        for row in page.matches(of: #/\n\|`([^`\n]+)`\|(?:debug|info|notice|warning|error|critical)\|/#) {
            #expect(code.contains("\"\(row.output.1)\""), "nothing logs \(row.output.1)")
        }
    }

    /// The sources of all code that runs in a worker.
    private func sources() throws -> [String] {
        let folder = Self.package.appending(path: "Sources")
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (all?.compactMap { $0 as? URL } ?? []).filter {
            $0.pathExtension == "swift" && !$0.path.contains("/Sources/rollcall/")
        }
        .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}

/// A key for tokens and a token for the admin API, in files that are deleted when the value is released.
private final class Secrets {
    let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
    var key: URL { folder.appending(path: "key") }
    var admin: URL { folder.appending(path: "admin") }
    let adminToken = "staple-battery-horse-correct-9876543210"

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(String(repeating: "0123456789abcdef", count: 3).utf8).write(to: key)
        try Data(adminToken.utf8).write(to: admin)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func token(_ user: String) async throws -> String {
        let child = try ChildProcess([RollcallProgram.path, "token", user, "--secret-file", key.path])
        try await child.exitCode()
        try await eventually("the token is read") { child.outputEnded }
        return child.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension LogTests {
    /// Runs a typical session and hostile ones.
    ///
    /// - Returns: all tokens that were sent.
    private func play(_ worker: WorkerProcess, _ redis: TestRedis, _ secrets: Secrets) async throws -> [String] {
        let good = try await secrets.token("zebediah")
        let foreign = try await secrets.token("foreigner")
        let forged = [String(good.dropLast(6)) + "AAAAAA", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6ZWJlZGlhaCJ9.", "zebediah"]
        try await behave(worker, redis, token: good)
        for token in forged { try await refused(worker, token: token) }
        try await misbehave(worker, token: good)
        try await administer(worker, secrets)
        try await trouble(worker, redis, token: foreign)
        return [good, foreign, forged[0], forged[1], secrets.adminToken, String(good.split(separator: ".")[2])]
    }

    private func behave(_ worker: WorkerProcess, _ redis: TestRedis, token: String) async throws {
        let device = try await WireDevice(port: worker.port)
        try await device.hello(token: token, device: "quixotic")
        try await device.ask(.join("jabberwock", presence: true))
        try await device.ask(.watch(["slartibartfast"]))
        try await device.ask(.typing("jabberwock", true))
        try await redis.publish(#"{"user":"zebediah","typing":"perhaps"}"#, to: "typing:{jabberwock}")
        try await device.ask(.token(ByteString(token)))
        try await device.send(.goodbye)
        _ = try await device.closed()
    }

    private func refused(_ worker: WorkerProcess, token: String) async throws {
        let stranger = try await WireDevice(port: worker.port)
        try await stranger.send(.hello(.init(token: ByteString(token), device: "quixotic")))
        #expect([.busy, .badToken].contains(try await stranger.closed()))
    }

    private func misbehave(_ worker: WorkerProcess, token: String) async throws {
        let nonsense: [(UInt8, String)] = [
            (1, #"{"zebediah":"#), (2, "zebediah"), (3, "zebediah"), (1, #"{"type":"hello","token":"\#(token)"}"#),
        ]
        for (opcode, text) in nonsense {
            let device = try await WireDevice(port: worker.port)
            try await device.hello(token: token, device: "quixotic")
            try await device.send(text: #"{"type":"zebediah","conversation":"jabberwock","token":"\#(token)"}"#)
            try await device.send(opcode: opcode, Array(text.utf8))
            _ = try await device.closed()
        }
        for path in ["/zebediah?token=\(token)", "/v1/connect?token=\(token)"] {
            #expect(try await Web.get("http://127.0.0.1:\(worker.port)\(path)", token: token).status >= 400)
        }
    }

    private func administer(_ worker: WorkerProcess, _ secrets: Secrets) async throws {
        for path in ["/v1/presence?user=zebediah", "/v1/conversations/jabberwock/typing", "/zebediah", "/v1/%zz"] {
            for token in [secrets.adminToken, String(secrets.adminToken.dropLast())] {
                _ = try await Web.get(worker.admin + path, token: token)
            }
        }
    }

    private func trouble(_ worker: WorkerProcess, _ redis: TestRedis, token: String) async throws {
        try await redis.cli("SET", "presence:{foreigner}", "Zeb-the-Great")
        let device = try await WireDevice(port: worker.port)
        try await device.hello(token: token, device: "quixotic")
        try await eventually("the log reports the key") { worker.process.errors.contains("has the wrong type") }
        try await redis.everywhere("CLIENT", "KILL", "TYPE", "normal")
        try await eventually("the log reports the loss") { worker.process.errors.contains("Redis lost") }
        try await eventually("Redis is back") {
            worker.process.errors.components(separatedBy: "lease begun").count > 2
        }
        device.drop()
    }
}
