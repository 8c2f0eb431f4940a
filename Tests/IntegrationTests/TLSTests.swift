// A worker that serves TLS itself, and clients that trust its private certificate authority.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A worker with TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    @Test("serves the client library")
    func serves() async throws {
        let certificates = try TestCertificates()
        let pair = certificates.first
        let redis = try await RedisServer()
        let worker = try await WorkerProcess(
            "w1", redis: redis.url,
            settings: ["edge.certificate": pair.certificate.path, "edge.private_key": pair.key.path])
        #expect(worker.edge.hasPrefix("wss://127.0.0.1:"))

        var options = ClientOptions()
        options.trustedCertificates = certificates.authority.path
        let alice = RollcallClient(url: worker.edge, device: "phone", options: options) { "alice" }
        alice.connect()
        try await eventually("alice is connected") { alice.connection.latest.isConnected }

        await alice.shutdown()
    }

    @Test("connects to Redis by TLS, with certificates and a password that change while it runs")
    func redis() async throws {
        let certificates = try TestCertificates()
        let own = certificates.first
        let redis = try await SecureRedis(
            certificates.first, of: certificates, asksWhoComes: true)
        let password = certificates.folder.appending(path: "password")
        try Data("a-password\n".utf8).write(to: password)
        let worker = try await WorkerProcess(
            "w1", redis: "rediss://rollcall@127.0.0.1:\(redis.port)",
            settings: [
                "redis.password_file": password.path, "redis.authority": certificates.authority.path,
                "redis.certificate": own.certificate.path, "redis.private_key": own.key.path,
            ])
        let alice = try await worker.device("alice", "phone")
        try await alice.ask(.join("c42", presence: false))
        #expect(try await alice.ask(.typing("c42", true)) == nil)

        try await redis.redis.cli("ACL", "SETUSER", "rollcall", "resetpass", ">another")
        try Data("another\n".utf8).write(to: password)
        try certificates.replace(own, with: certificates.second)
        for kind in ["normal", "pubsub"] { try await redis.redis.cli("CLIENT", "KILL", "TYPE", kind) }
        try await eventually("a new incarnation has written everything") {
            let names = try await redis.redis.cli("ZRANGE", "{workers}", "0", "-1")
            let record = try await redis.redis.cli("HGET", "presence:{alice}", "device:phone")
            return names.split(separator: "\n").contains { $0 != worker.incarnation && record.contains($0) }
        }
        #expect(alice.close == nil)
    }

    @Test("does not start if Redis's certificate is not trusted, and says what to do")
    func stranger() async throws {
        let certificates = try TestCertificates()
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let worker = try WorkerProcess.start(["redis.url": redis.url, "redis.connect_timeout": "1s"])
        #expect(try await worker.exitCode() == 69)
        try await eventually("it has printed the reason") { worker.errors.contains("\n") }
        #expect(worker.errors.contains("its certificate is not trusted, or not valid now (set redis.authority"))
    }

    @Test("does not start with a key of another certificate, and says so")
    func mismatch() async throws {
        let certificates = try TestCertificates()
        let (first, second) = (certificates.first, certificates.second)
        let worker = try WorkerProcess.start([
            "edge.certificate": first.certificate.path, "edge.private_key": second.key.path,
        ])
        #expect(try await worker.exitCode() == 78)
        try await eventually("it has printed the reason") { worker.errors.contains("edge.private_key") }
        #expect(worker.errors.contains("does not match the first certificate"))
    }
}
