// A worker that speaks TLS itself, and clients that trust its private authority.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A worker under TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    private static let tests = URL(filePath: #filePath).appending(path: "../..").standardized

    @Test("serves the client library, and Python's websockets")
    func serves() async throws {
        let certificates = try await TestCertificates()
        let pair = try await certificates.issue("worker")
        let redis = try await RedisServer()
        let worker = try await WorkerProcess(
            "w1", redis: redis.url,
            settings: ["edge.certificate": pair.certificate.path, "edge.private_key": pair.key.path])
        #expect(worker.edge.hasPrefix("wss://127.0.0.1:"))

        var options = ClientOptions()
        options.trustedCertificates = certificates.authority.path
        let alice = RollcallClient(url: worker.edge, device: "phone", options: options) { "alice" }
        alice.connect()
        try await eventually("alice is connected") { alice.connectionState.isConnected }

        let python = try ChildProcess([
            "sh", Self.tests.appending(path: "venv.sh").path,
            Self.tests.appending(path: "../.build-venv").standardized.path,
            Self.tests.appending(path: "interop/requirements.txt").path,
            Self.tests.appending(path: "interop/tls.py").path, worker.edge, certificates.authority.path,
        ])
        // The first run fetches the package.
        let code = try await python.exitCode(within: .seconds(120))
        try await eventually("what it said is read") { python.outputEnded }
        #expect(code == 0, "\(python.errors)")
        #expect(python.output == "TLSv1.3\n")
        await alice.shutdown()
    }

    @Test("does not start with a key that is another certificate's, and says so")
    func mismatch() async throws {
        let certificates = try await TestCertificates()
        let (first, second) = (try await certificates.issue("first"), try await certificates.issue("second"))
        let worker = try WorkerProcess.start([
            "edge.certificate": first.certificate.path, "edge.private_key": second.key.path,
        ])
        #expect(try await worker.exitCode(within: .seconds(10)) == 78)
        try await eventually("it has said why") { worker.errors.contains("edge.private_key") }
        #expect(worker.errors.contains("not that of the first certificate"))
    }
}
