// wss: the connection is encrypted, and only trusted certificates are accepted.

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct SecureConnectionTests {
    private let certificates: TestCertificates
    private var authority: String { certificates.authority.path }

    init() throws {
        certificates = try TestCertificates()
    }

    private func configuration(_ pair: TestCertificates.Pair) throws -> TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate.path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key.path, format: .pem)))
    }

    @Test("a worker, or a proxy in front of it, that supports at most TLS 1.1 is refused")
    func outdated() async throws {
        var tls = try configuration(certificates.first)
        tls.maximumTLSVersion = .tlsv11
        let worker = try await ScriptedWorker(tls: try NIOSSLContext(configuration: tls))
        let client = RollcallClient.phone("wss://localhost:\(worker.port)/v1/connect") {
            $0.trustedCertificates = authority
        }
        client.connect()
        try await eventually("it waits, or is connected") {
            switch client.connection.latest {
            case .waiting(_, let error): error.code == .unreachable
            case .connected: true
            default: false
            }
        }
        #expect(worker.connections.isEmpty)
    }

    /// The addresses are reserved for documentation, so nothing answers there.
    @Test(
        "no token goes over ws:// to another machine, unless the app says so",
        arguments: [["ws://192.0.2.1:9/v1/connect"], ["wss://192.0.2.2", "ws://192.0.2.1:9"]])
    func plain(urls: [String]) async throws {
        let asked = NIOLockedValueBox(0)
        let token: @Sendable () async throws -> String = {
            asked.withLockedValue { $0 += 1 }
            return "alice"
        }
        let careful = RollcallClient(urls: urls, device: "phone", token: token)
        careful.connect()
        let error = try await careful.hasFailed()
        #expect(error.code == .invalidURL)
        #expect(error.message.contains("ws://192.0.2.1:9 "))
        #expect(error.message.contains("wss://") && error.message.contains("allowsUnencryptedConnections"))
        #expect(asked.withLockedValue { $0 } == 0)

        var options = ClientOptions()
        options.allowsUnencryptedConnections = true
        let open = RollcallClient(urls: urls, device: "phone", options: options, token: token)
        open.connect()
        try await eventually("it asks for a token and tries") { asked.withLockedValue { $0 } == 1 }
        if case .failed(let error) = open.connection.latest { Issue.record(error) }
        open.close()
    }

    @Test("a worker is connected by TLS if its certificate is trusted, and not otherwise")
    func tls() async throws {
        let worker = try await ScriptedWorker(
            tls: try NIOSSLContext(configuration: configuration(certificates.first)))
        for host in ["localhost", "127.0.0.1"] {
            let client = RollcallClient.phone("wss://\(host):\(worker.port)/v1/connect") {
                $0.trustedCertificates = authority
            }
            client.connect()
            try await client.isConnected()
        }
        let distrustful = RollcallClient.phone("wss://localhost:\(worker.port)/v1/connect")
        distrustful.connect()
        try await eventually("it waits") {
            if case .waiting(_, let error) = distrustful.connection.latest {
                error.code == .unreachable
            } else {
                false
            }
        }
        #expect(worker.connections.count == 2)
    }
}
