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
            switch client.connectionState {
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
        if case .failed(let error) = open.connectionState { Issue.record(error) }
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
            if case .waiting(_, let error) = distrustful.connectionState {
                error.code == .unreachable
            } else {
                false
            }
        }
        #expect(worker.connections.count == 2)
    }

    private func pin(of pair: TestCertificates.Pair) throws -> KeyPin {
        let certificate = try NIOSSLCertificate.fromPEMFile(pair.certificate.path)[0]
        return try #require(KeyPin(pem: Data(try certificate.extractPublicKey().toSPKIBytes()).base64EncodedString()))
    }

    /// What a PEM file holds between its header lines.
    private func body(of file: URL) throws -> String {
        let lines = try String(decoding: Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("-----") }.joined()
    }

    private func isRefused(_ client: RollcallClient) async throws {
        client.connect()
        try await eventually("it waits, or is connected") {
            switch client.connectionState {
            case .waiting(_, let error): error.code == .unreachable
            case .connected: true
            default: false
            }
        }
        #expect(!client.connectionState.isConnected)
    }

    @Test("with pinned keys, a server needs one of them")
    func pinned() async throws {
        let worker = try await ScriptedWorker(
            tls: try NIOSSLContext(configuration: configuration(certificates.first)))
        func client(_ pins: [KeyPin]) -> RollcallClient {
            .phone("wss://localhost:\(worker.port)/v1/connect") {
                $0.trustedCertificates = authority
                $0.pinnedKeys = pins
            }
        }
        let others = [try pin(of: certificates.second), try pin(of: certificates.expired)]
        #expect(others[0] != others[1])
        try await isRefused(client(others))
        #expect(worker.connections.isEmpty && worker.attempts == 0)
        // The present key beside the next, in whatever order.
        for pins in [[try pin(of: certificates.first)], others + [try pin(of: certificates.first)]] {
            let client = client(pins)
            client.connect()
            try await client.isConnected()
        }
    }

    @Test("a pinned key makes up neither for a certificate that nobody vouches for, nor for one of another name")
    func pinnedAlone() async throws {
        for (pair, isTrusted) in [(certificates.first, false), (certificates.elsewhere, true)] {
            let worker = try await ScriptedWorker(
                tls: try NIOSSLContext(configuration: configuration(pair)))
            let pin = try pin(of: pair)
            try await isRefused(
                .phone("wss://localhost:\(worker.port)/v1/connect") {
                    if isTrusted { $0.trustedCertificates = authority }
                    $0.pinnedKeys = [pin]
                })
            #expect(worker.connections.isEmpty && worker.attempts == 0)
        }
    }

    @Test("a pin is a public key in PEM, or its base64 alone")
    func pins() async throws {
        let wrong = [
            "", "AAAA", "sha256/AAAA", String(repeating: "A", count: 43) + "=",
            "-----BEGIN CERTIFICATE-----\nMC4=\n-----END CERTIFICATE-----",
        ]
        for text in wrong { #expect(KeyPin(pem: text) == nil, "\(text)") }
        let pin = try pin(of: certificates.first)
        let base64 = Data(pin.key).base64EncodedString()
        #expect(KeyPin(pem: try body(of: certificates.first.certificate)) == nil)
        #expect(KeyPin(pem: try body(of: certificates.first.key)) == nil)
        for count in 0..<pin.key.count {
            #expect(KeyPin(pem: Data(pin.key.prefix(count)).base64EncodedString()) == nil, "\(count) bytes")
        }
        #expect(KeyPin(pem: Data(pin.key + [0]).base64EncodedString()) == nil)
        #expect(KeyPin(pem: base64) == pin)
        #expect(KeyPin(pem: "-----BEGIN PUBLIC KEY-----\r\n\(base64)\r\n-----END PUBLIC KEY-----\r\n") == pin)
        #expect(KeyPin(pem: "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----") == nil)
    }
}
