// wss: the connection is encrypted, and only trusted certificates are accepted.

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct SecureConnectionTests {
    /// Creates a certificate for this machine in a temporary folder.
    private func withCertificate(_ body: (_ certificate: String, _ key: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = (folder.appending(path: "cert.pem").path, folder.appending(path: "key.pem").path)
        let openssl = try ChildProcess([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
            "-out", certificate,
        ])
        #expect(try await openssl.exitCode() == 0)
        try await body(certificate, key)
    }

    private func configuration(_ certificate: String, _ key: String) throws -> TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
    }

    @Test("a worker, or a proxy in front of it, that supports at most TLS 1.1 is refused")
    func outdated() async throws {
        try await withCertificate { certificate, key in
            var tls = try configuration(certificate, key)
            tls.maximumTLSVersion = .tlsv11
            let worker = try await ScriptedWorker(tls: try NIOSSLContext(configuration: tls))
            let client = RollcallClient.phone("wss://localhost:\(worker.port)/v1/connect") {
                $0.trustedCertificates = certificate
            }
            client.connect()
            try await eventually("it waits, or is connected") {
                switch client.connectionState {
                case .waiting(_, let error): error.code == .unreachable
                case .connected: true
                default: false
                }
            }
            #expect(worker.connections.isEmpty)
        }
    }

    @Test("a worker is connected by TLS if its certificate is trusted, and not otherwise")
    func tls() async throws {
        try await withCertificate { certificate, key in
            let worker = try await ScriptedWorker(
                tls: try NIOSSLContext(configuration: configuration(certificate, key)))
            for host in ["localhost", "127.0.0.1"] {
                let client = RollcallClient.phone("wss://\(host):\(worker.port)/v1/connect") {
                    $0.trustedCertificates = certificate
                }
                client.connect()
                try await client.isConnected()
            }
            let distrustful = RollcallClient.phone("wss://localhost:\(worker.port)/v1/connect")
            distrustful.connect()
            try await eventually("it waits") {
                if case .waiting(_, let error) = distrustful.connectionState {
                    error.code == .unreachable
                } else {
                    false
                }
            }
            #expect(worker.connections.count == 2)
        }
    }
}
