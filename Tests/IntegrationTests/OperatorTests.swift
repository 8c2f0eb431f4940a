// Operator commands on real workers: explaining a status, disconnecting devices, erasing users.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("An operator")
struct OperatorTests {
    /// The output of a command, and its exit code.
    private struct Told {
        var code: Int32
        var output: String
        var errors: String
    }

    @discardableResult
    private func rollcall(_ arguments: String..., at worker: WorkerProcess? = nil) async throws -> Told {
        try await rollcall(arguments, at: worker)
    }

    private func rollcall(_ arguments: [String], at worker: WorkerProcess? = nil) async throws -> Told {
        let admin = worker.map { ["--admin", $0.admin] } ?? []
        let command = try ChildProcess([RollcallProgram.path] + arguments + admin)
        let code = try await command.exitCode()
        try await eventually("its output is read") { command.outputEnded }
        return Told(code: code, output: command.output, errors: command.errors)
    }

    /// The lines, with values of this run replaced as in the documentation.
    private func lines(_ told: Told, _ deployment: Deployment) -> [String] {
        var text = told.output
        for (index, worker) in deployment.workers.enumerated() {
            text = text.replacing(worker.incarnation, with: "w\(index + 1).*")
        }
        let moments = text.replacing(#/\d+\.\d s/#, with: "T")
        return moments.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test("sees two devices on two workers, and which of them decided the status")
    func twoWorkers() async throws {
        let deployment = try await Deployment(workers: 2)
        let phone = try await deployment.workers[0].device("alice", "iphone")
        let laptop = try await deployment.workers[1].device("alice", "laptop", state: .idle)
        // Others have them open too, one with a name that looks like a pattern.
        let others = [
            try await deployment.workers[0].device("al*", "tv"), try await deployment.workers[0].device("alice2", "tv"),
        ]
        for (device, conversation) in [
            (phone, "doc2"), (laptop, "doc1"), (phone, "doc1"), (others[0], "doc1"), (others[1], "doc3"),
        ] {
            #expect(try await device.ask(.join(ConversationID(conversation), presence: false)) == nil)
            #expect(try await device.ask(.enter(ConversationID(conversation))) == nil)
        }
        for worker in deployment.workers {
            try await eventually("both statuses are shown") {
                let told = lines(try await rollcall("explain", "alice", at: worker), deployment)
                return told.first == "alice is online: iphone is active on w1.*" && told.count > 2
                    && told[1].hasPrefix("iphone active connected since T w1.* lease ends in T")
                    && told[2].hasPrefix("laptop idle connected since T w2.* lease ends in T")
                    && told.filter { $0.hasPrefix("open") }
                        == ["open doc1 on iphone", "open doc2 on iphone", "open doc1 on laptop"]
            }
            #expect(
                lines(try await rollcall("explain", "al*", at: worker), deployment).contains("open doc1 on tv"))
        }
        #expect(try await phone.ask(.exit(ConversationID("doc2"))) == nil)
        let left = lines(try await rollcall("explain", "alice", at: deployment.workers[1]), deployment)
        #expect(!left.contains("open doc2 on iphone"), "although it is on the worker's list for one lease more")
        let workers = lines(try await rollcall("workers", at: deployment.workers[0]), deployment)
        #expect(workers.map { $0.prefix(27) } == ["w1.* alive lease ends in T ", "w2.* alive lease ends in T "])
        _ = (phone, laptop)
    }

    @Test("sees a device in its grace period, and how long it still counts")
    func grace() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["presence.grace": "30s"])
        let phone = try await deployment.workers[0].device("bob", "iphone")
        try await phone.ask(.state(.active))
        phone.drop()
        try await eventually("it is in grace") {
            let told = lines(try await rollcall("explain", "bob", at: deployment.workers[0]), deployment)
            return told.first
                == "bob is online: iphone was active when its connection was lost T ago, and counts for T more"
                && told[1].hasPrefix("iphone active in grace, lost T ago since T w1.*")
        }
    }

    @Test("sees a user of a dead worker before the sweep")
    func deadOwner() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["worker.lease": "4s"])
        let dead = deployment.workers[0]
        let tablet = try await dead.device("carol", "tablet")
        try await tablet.ask(.state(.active))
        dead.crash()
        try await dead.process.exitCode()
        // A worker that has just started sweeps no other before it has watched leases for one lease.
        let judge = try await WorkerProcess("judge", redis: deployment.redis.url, settings: ["worker.lease": "30s"])
        var seen: [String] = []
        try await eventually("its lease has expired") {
            seen = lines(try await rollcall("explain", "carol", at: judge), deployment)
            return seen.first?.hasPrefix("carol is offline") == true
        }
        #expect(
            seen.first
                == "carol is offline: the only device is owned by w1.*, whose lease passed T ago; it will be swept")
        #expect(
            seen.dropFirst().first?.hasPrefix("tablet active its worker is dead since T w1.* lease passed T ago")
                == true)
        #expect(seen.contains("stored online") && seen.contains("shown offline") && seen.contains("rule owner_dead"))
        let workers = lines(try await rollcall("workers", at: judge), deployment)
        #expect(workers.count == 2 && workers.last?.hasPrefix("w1.* dead lease passed T ago") == true)
        #expect(try await rollcall("send-away", "carol", at: judge).code == 1, "there is no session to end")
    }

    @Test("disconnects a device through any worker, with immediate effect")
    func sendAway() async throws {
        let deployment = try await Deployment(workers: 2)
        let phone = try await deployment.workers[0].device("alice", "iphone")
        let laptop = try await deployment.workers[1].device("alice", "laptop", state: .idle)
        try await phone.ask(.state(.active))
        try await laptop.ask(.state(.idle))
        let told = try await rollcall("send-away", "alice", "--device", "iphone", at: deployment.workers[1])
        #expect(told.output == "alice's session on iphone has ended\n" && told.code == 0)
        #expect(try await phone.closed() == .sentAway)
        let after = lines(try await rollcall("explain", "alice", at: deployment.workers[0]), deployment)
        #expect(after.first == "alice is away: laptop is idle on w2.*")
        #expect(try await rollcall("send-away", "alice", at: deployment.workers[0]).code == 0)
        #expect(try await laptop.closed() == .sentAway)
        #expect(try await rollcall("send-away", "alice", at: deployment.workers[0]).output == "alice has no session\n")
        try await eventually("the worker logs it without the user's name") {
            deployment.workers[1].process.errors.contains("admin change")
        }
        #expect(!deployment.workers.contains { $0.process.errors.contains("alice") })
    }

    @Test("erases a user, after which Redis contains nothing that names them")
    func erase() async throws {
        let deployment = try await Deployment(workers: 2, settings: Self.shortLease)
        let redis = deployment.redis
        let observer = try await deployment.client("observer", "desk", on: 1)
        let seen = Observer(observer.presence(of: "mallory"))
        let phone = try await deployment.workers[0].device("mallory", "iphone")
        let laptop = try await deployment.workers[1].device("mallory", "laptop")
        _ = try await redis.cli("HSET", "members:{c42}", "{managed}", "1", "mallory", "Mallory", "bob", "Bob")
        for device in [phone, laptop] {
            #expect(try await device.ask(.join(ConversationID("c42"), presence: false)) == nil)
            #expect(try await device.ask(.typing(ConversationID("c42"), true)) == nil)
            #expect(try await device.ask(.enter(ConversationID("c42"))) == nil)
        }
        try await seen.sees("online") { $0.status == .online }
        #expect(try await mentions("mallory", in: redis).count >= 10, "the scan finds all of the user's data")

        let refused = try await rollcall("erase", "mallory", at: deployment.workers[0])
        #expect(refused.code == 64 && refused.errors.contains("--yes"))
        let told = try await erase("mallory", "-c", "c42", at: deployment.workers[0])
        #expect(told.output.hasPrefix("mallory was erased"), "\(told.errors)")
        #expect(try await phone.closed() == .sentAway)
        #expect(try await laptop.closed() == .sentAway)
        try await eventually("nothing is left except the revocation") {
            try await mentions("mallory", in: redis) == ["revoked:{mallory}"]
        }
        #expect(try await redis.cli("HKEYS", "members:{c42}").split(separator: "\n").sorted() == ["bob", "{managed}"])
        try await seen.sees("nobody") { $0.status == .offline && $0.lastSeen == nil }
        await observer.shutdown()
    }

    /// Regression: a session held through the outage wrote the record again after the answer that everything was
    /// erased.
    @Test("erases no user after an outage until every worker has written its sessions again")
    func eraseAfterOutage() async throws {
        let deployment = try await Deployment(workers: 1, on: .server)
        let worker = deployment.workers[0]
        try await deployment.redis.kill()
        let again = try await RedisServer(port: deployment.redis.servers[0].port)
        try await eventually("it has a lease again") { try await rollcall("workers", at: worker).code == 0 }
        let refused = try await rollcall("erase", "mallory", "--yes", at: worker)
        #expect(refused.code == 69 && refused.errors.contains("until just now"), "\(refused)")
        #expect(try await erase("mallory", at: worker).code == 0)
        #expect(again.process.isRunning)
    }

    /// Regression: the worker that was asked knew of no other, and the one that was cut off wrote the record again.
    @Test("erases a user with a session on a worker that is cut off, and the user stays erased when it returns")
    func eraseWhileCutOff() async throws {
        let secret = try secret()
        defer { try? FileManager.default.removeItem(at: secret) }
        let jwt = ["auth.mode": "jwt", "auth.secret_file": secret.path]
        let deployment = try await Deployment(workers: 2, settings: jwt.merging(Self.shortLease) { $1 })
        let (away, other) = (deployment.workers[0], deployment.workers[1])
        let phone = try await away.device(try await token("mallory", secret), "iphone")
        try await phone.ask(.state(.active))
        away.process.signal(SIGSTOP)
        try await eventually("its lease has expired, and it is swept") {
            try await rollcall("workers", at: other).output.split(separator: "\n").count == 1
        }
        #expect(try await erase("mallory", at: other).code == 0)
        away.process.signal(SIGCONT)
        #expect(try await phone.closed() == .badToken)
        // What the session still has to remove is removed last.
        try await eventually("nothing else is left of the user") {
            try await mentions("mallory", in: deployment.redis) == ["revoked:{mallory}"]
        }
    }

    /// A short lease, so that workers soon know all sessions.
    private static let shortLease = ["worker.lease": "3s"]

    /// Erases a user as soon as the workers know all sessions.
    private func erase(_ user: String, _ options: String..., at worker: WorkerProcess) async throws -> Told {
        var told = Told(code: 69, output: "", errors: "")
        try await eventually("the workers know all sessions") {
            told = try await rollcall(["erase", user, "--yes"] + options, at: worker)
            return told.code == 0
        }
        return told
    }

    private func secret() throws -> URL {
        let secret = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        try Data(String(repeating: "s", count: 32).utf8).write(to: secret)
        return secret
    }

    private func token(_ user: String, _ secret: URL) async throws -> String {
        let told = try await rollcall("token", user, "--secret-file", secret.path)
        return told.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns every key, field, member and value that contains a name.
    private func mentions(_ name: String, in redis: TestRedis) async throws -> [String] {
        let reads = ["string": ["GET"], "hash": ["HGETALL"], "set": ["SMEMBERS"], "zset": ["ZRANGE", "0", "-1"]]
        var found: [String] = []
        for key in try await redis.keys() {
            let kind = try await redis.cli("TYPE", key).trimmingCharacters(in: .whitespacesAndNewlines)
            let read = reads[kind] ?? []
            let content = read.isEmpty ? "" : try await redis.cli([read[0], key] + read.dropFirst())
            found += ([key] + content.split(separator: "\n").map(String.init)).filter { $0.contains(name) }
        }
        return found
    }

    @Test("revokes a user's tokens: the old one opens no session on any worker, a new one does")
    func revoke() async throws {
        let secret = try secret()
        defer { try? FileManager.default.removeItem(at: secret) }
        let deployment = try await Deployment(
            workers: 2, settings: ["auth.mode": "jwt", "auth.secret_file": secret.path])
        let old = try await token("alice", secret)
        let phone = try await deployment.workers[0].device(old, "iphone")
        try await phone.ask(.state(.active))
        #expect(try await rollcall("send-away", "alice", "--revoke", at: deployment.workers[1]).code == 0)
        #expect(try await phone.closed() == .sentAway)
        let again = try await WireDevice(port: deployment.workers[1].port)
        try await again.send(.hello(.init(token: ByteString(old), device: "iphone")))
        #expect(try await again.closed() == .tokenExpired)
        // The answer came when the next second had begun.
        let fresh = try await deployment.workers[1].device(try await token("alice", secret), "iphone")
        #expect(try await fresh.ask(.state(.idle)) == nil)
    }

    /// Regression: bidirectional characters in a device's name could change how its line is displayed, and so show
    /// another state.
    @Test("sees bidirectional characters in names escaped, in text and in JSON")
    func unusualNames() async throws {
        let deployment = try await Deployment(workers: 1)
        let worker = deployment.workers[0]
        _ = try await worker.device("eve", "ph\u{202E}eno")
        for arguments in [["explain", "eve"], ["explain", "eve", "--json"], ["send-away", "eve"]] {
            let told = try await rollcall(arguments, at: worker)
            #expect(told.code == 0 && told.output.contains("ph"), "\(told)")
            #expect(!told.output.unicodeScalars.contains { $0.properties.isBidiControl }, "\(arguments)")
        }
    }

    @Test("passes the token by file, standard input or environment, and never as an argument")
    func tokens() async throws {
        let token = "0123456789abcdef0123456789abcdef"
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\(token)\nthe-token-before-this-one\n".utf8).write(to: file)
        let deployment = try await Deployment(workers: 1, settings: ["admin.token_file": file.path])
        let admin = deployment.workers[0].admin
        for line in [
            #"exec "$0" workers --admin "$1" --token-file "$2""#,
            #"head -n 1 "$2" | "$0" workers --admin "$1" --token-file -"#,
            #"ROLLCALL_OPERATOR_TOKEN=$(head -n 1 "$2") exec "$0" workers --admin "$1""#,
        ] {
            let shell = try ChildProcess(["sh", "-c", line, RollcallProgram.path, admin, file.path])
            #expect(try await shell.exitCode() == 0, "\(line): \(shell.errors)")
        }
        #expect(try await rollcall("workers", "--admin", admin).code == 1)
        let unencrypted = try await rollcall("workers", "--admin", "http://192.0.2.1:8081", "--token-file", file.path)
        #expect(unencrypted.code == 64 && unencrypted.errors.contains("--insecure"))
        #expect(try await rollcall("watch", "alice", "--token", token).code == 64)
        #expect(try await rollcall("watch", "alice").errors.contains("--token-file or ROLLCALL_TOKEN"))
    }

    @Test("gets an error that names the missing token if a token file or standard input is empty")
    func emptyTokens() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\n \n".utf8).write(to: file)
        let empty = try await rollcall("workers", "--token-file", file.path)
        #expect(empty.code == 64 && empty.errors.contains("the token file \(file.path) is empty"))
        let line = #"exec "$0" workers --token-file - </dev/null"#
        let shell = try ChildProcess(["sh", "-c", line, RollcallProgram.path])
        #expect(try await shell.exitCode() == 64)
        #expect(shell.errors.contains("there is no token on standard input"))
    }

    @Test("is advised what to do if no worker answers, or if a token is required")
    func unreachable() async throws {
        let port = try freePort()
        let nobody = try await rollcall("workers", "--admin", "http://127.0.0.1:\(port)")
        #expect(nobody.code == 69)
        #expect(nobody.errors.contains("no worker answers at http://127.0.0.1:\(port): Connection refused"))
        #expect(nobody.errors.contains("--admin"))
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: file)
        let deployment = try await Deployment(workers: 1, settings: ["admin.token_file": file.path])
        let worker = deployment.workers[0]
        let refused = try await rollcall("explain", "alice", at: worker)
        #expect(refused.code == 1 && refused.errors.contains("--token-file"))
        #expect(try await rollcall("explain", "alice", "--token-file", file.path, at: worker).code == 0)
        #expect(try await rollcall("explain", "a b", at: worker).code == 64)
        try await deployment.redis.kill()
        try await eventually("the worker reports that Redis is away") {
            try await rollcall("explain", "alice", "--token-file", file.path, at: worker).code == 69
        }
    }
}
