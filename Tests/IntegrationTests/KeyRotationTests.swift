// An issuer changes its keys while workers run, which fetch them from its URL.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("An issuer that changes its keys", .enabled(if: isSoaking), .timeLimit(.minutes(2)))
struct KeyRotationTests {
    private let issuer: Issuer

    init() async throws {
        issuer = try await Issuer()
    }

    private func worker(_ redis: TestRedis) async throws -> WorkerProcess {
        try await WorkerProcess(
            "w1", redis: redis.url,
            settings: ["auth.mode": "jwt", "auth.jwks_url": issuer.url, "auth.leeway": "0"])
    }

    @Test(
        "a device whose token has a new key is told to come back, and is welcome once the worker has fetched the key")
    func newKey() async throws {
        let redis = try await TestRedis()
        try await issuer.publish(["one"])
        let worker = try await worker(redis)
        let first = try await WireDevice(port: worker.port)
        try await first.hello(token: try await issuer.token("one", for: "alice"), device: "phone")

        try await issuer.publish(["one", "two"])
        let token = ByteString(try await issuer.token("two", for: "bob"))
        let early = try await WireDevice(port: worker.port)
        try await early.send(.hello(.init(token: token, device: "phone")))
        #expect(try await early.closed() == .busy)
        #expect(early.messages.contains(.goodbye(.init(reason: .unknownKey, reconnect: true, after: 2000))))
        try await eventually("the key is fetched") {
            let later = try await WireDevice(port: worker.port)
            try await later.send(.hello(.init(token: token, device: "phone")))
            try await eventually("it is answered") { try await later.welcome() != nil || later.close != nil }
            return try await later.welcome()?.user == "bob"
        }
    }

    @Test("while the issuer is down, known keys stay valid, and clients with other keys are told to retry")
    func away() async throws {
        let redis = try await TestRedis()
        try await issuer.publish(["one"])
        let worker = try await worker(redis)
        let first = try await WireDevice(port: worker.port)
        try await first.hello(token: try await issuer.token("one", for: "alice"), device: "phone")
        issuer.leave()

        let token = ByteString(try await issuer.token("two", for: "bob"))
        try await eventually("the worker has tried to fetch the key") {
            let unknown = try await WireDevice(port: worker.port)
            try await unknown.send(.hello(.init(token: token, device: "phone")))
            #expect(try await unknown.closed() == .busy)
            return unknown.messages.contains(.goodbye(.init(reason: .busy, reconnect: true, after: 2000)))
        }

        let known = try await WireDevice(port: worker.port)
        try await known.hello(token: try await issuer.token("one", for: "carol"), device: "phone")
        let answer = try await first.ask(.token(ByteString(try await issuer.token("two", for: "alice"))))
        #expect(answer?.code == .unavailable)
        #expect(first.close == nil)
    }

    @Test("a session outlives its token if it sends a new one, ends with its last, and at once with another user's")
    func expiry() async throws {
        let redis = try await TestRedis()
        try await issuer.publish(["one"])
        let worker = try await worker(redis)
        let brief = try await issuer.token("one", for: "alice", lifetime: 3)
        let (renewed, left) = (try await WireDevice(port: worker.port), try await WireDevice(port: worker.port))
        try await renewed.hello(token: brief, device: "phone")
        try await left.hello(token: brief, device: "tablet")
        #expect(
            try await renewed.ask(.token(ByteString(try await issuer.token("one", for: "alice", lifetime: 60)))) == nil)
        #expect(try await left.closed() == .tokenExpired)
        #expect(left.messages.contains(.goodbye(.init(reason: .expired, reconnect: true))))
        try await renewed.look()
        #expect(renewed.close == nil)
        try await renewed.send(.token(ByteString(try await issuer.token("one", for: "mallory"))))
        #expect(try await renewed.closed() == .anotherUser)
    }
}

/// An issuer of tokens: keys made by `openssl`, published by Python's web server, and tokens signed in this test.
private final class Issuer: Sendable {
    let url: String
    private let folder: URL
    private let server: ChildProcess

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-issuer-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let port = try freePort()
        url = "http://127.0.0.1:\(port)/keys.json"
        server = try ChildProcess(["python3", "-m", "http.server", "\(port)", "-b", "127.0.0.1", "-d", folder.path])
        try await eventually("the issuer listens") { [url, folder] in
            try? Data("{}".utf8).write(to: folder.appending(path: "keys.json"))
            return (try? Data(contentsOf: URL(string: url)!)) != nil
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func leave() { server.kill() }

    /// Publishes these keys, and creates those that do not exist.
    func publish(_ names: [String]) async throws {
        var keys: [String] = []
        for name in names {
            let point = try await openssl(["pkey", "-in", try await key(name), "-pubout", "-outform", "der"]).suffix(32)
            keys.append(#"{"kty":"OKP","crv":"Ed25519","kid":"\#(name)","x":"\#(point.base64URL)"}"#)
        }
        let beside = folder.appending(path: "beside")
        try Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8).write(to: beside)
        guard rename(beside.path, folder.appending(path: "keys.json").path) == 0 else { throw POSIXError(.EIO) }
    }

    func token(_ key: String, for user: String, lifetime: Int = 3600) async throws -> String {
        let now = Int(Date.now.timeIntervalSince1970)
        let claims = #"{"sub":"\#(user)","iat":\#(now),"exp":\#(now + lifetime)}"#
        let signed = [#"{"alg":"EdDSA","kid":"\#(key)"}"#, claims]
            .map { Data($0.utf8).base64URL }.joined(separator: ".")
        let text = folder.appending(path: UUID().uuidString)
        try Data(signed.utf8).write(to: text)
        let signature = try await openssl([
            "pkeyutl", "-sign", "-rawin", "-inkey", try await self.key(key), "-in", text.path,
        ])
        return signed + "." + signature.base64URL
    }

    private func key(_ name: String) async throws -> String {
        let file = folder.appending(path: "\(name).key").path
        if !FileManager.default.fileExists(atPath: file) {
            _ = try await openssl(["genpkey", "-algorithm", "ed25519"], out: file)
        }
        return file
    }

    /// Runs openssl, and returns what it writes to a file, since that is binary.
    private func openssl(_ arguments: [String], out: String? = nil) async throws -> Data {
        let file = out ?? folder.appending(path: UUID().uuidString).path
        let child = try ChildProcess(["openssl"] + arguments + ["-out", file])
        guard try await child.exitCode() == 0 else { throw Timeout(description: "openssl: \(child.errors)") }
        return try Data(contentsOf: URL(filePath: file))
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
