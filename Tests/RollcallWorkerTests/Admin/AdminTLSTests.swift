// The admin port with TLS: which clients it accepts, and that its time limits also apply before the TLS handshake.

import Foundation
import Logging
import NIOCore
import NIOSSL
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The admin port with TLS", .timeLimit(.minutes(1)))
struct AdminTLSTests {
    private static let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private let certificates: TestCertificates
    private let pair: TestCertificates.Pair

    init() async throws {
        certificates = try TestCertificates()
        pair = certificates.first
    }

    private func keeper(clientAuthority: String? = nil) throws -> CertificateKeeper {
        try CertificateKeeper(
            CertificateFiles(
                port: .admin, certificate: pair.certificate.path, privateKey: pair.key.path,
                clientAuthority: clientAuthority), logger: Logger(label: "tls") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Whether a client with this client certificate gets a response.
    private func isAnswered(
        _ port: Int, showing own: TestCertificates.Pair? = nil, _ version: TLSVersion = .tlsv13
    ) async throws -> Bool {
        do {
            let client = try await TLSClient(port: port, trusting: certificates.authority) {
                ($0.minimumTLSVersion, $0.maximumTLSVersion) = (version, version)
                guard let own, let chain = try? NIOSSLCertificate.fromPEMFile(own.certificate.path),
                    let key = try? NIOSSLPrivateKey(file: own.key.path, format: .pem)
                else { return }
                ($0.certificateChain, $0.privateKey) = (chain.map { .certificate($0) }, .privateKey(key))
            }
            try await client.send(Self.health)
            try await eventually("it is answered or refused") {
                client.hasEnded || client.received.contains("HTTP/1.1 200")
            }
            let isAnswered = client.received.contains("HTTP/1.1 200")
            try await client.close()
            return isAnswered
        } catch is Timeout {
            throw Timeout(description: "neither a response nor a disconnect")
        } catch {
            return false
        }
    }

    @Test("TLS 1.2 and 1.3 are supported, older versions are not")
    func versions() async throws {
        try await withAdmin(certificate: try keeper()) { ask async throws in
            #expect(try await isAnswered(ask.port, .tlsv12))
            #expect(try await isAnswered(ask.port, .tlsv13))
            #expect(try await !isAnswered(ask.port, .tlsv11))
        }
    }

    @Test(
        "with a client authority, only clients with a certificate from it get a response",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func clients(version: TLSVersion) async throws {
        let others = try TestCertificates(.foreign)
        let (own, foreign) = (certificates.second, others.second)
        let late = certificates.expired
        try await withAdmin(certificate: try keeper(clientAuthority: certificates.authority.path)) { ask async throws in
            #expect(try await isAnswered(ask.port, showing: own, version))
            #expect(try await !isAnswered(ask.port, version))
            #expect(try await !isAnswered(ask.port, showing: foreign, version))
            #expect(try await !isAnswered(ask.port, showing: late, version))
        }
    }

    @Test("clients without TLS get no response, and silent ones are disconnected")
    func silent() async throws {
        try await withAdmin(certificate: try keeper()) { ask async throws in
            let plain = try RawClient(port: ask.port)
            try await plain.send(Self.health)
            #expect(try await !String(decoding: plain.readToEnd(), as: UTF8.self).contains("HTTP"))
            let (silent, halting) = (try RawClient(port: ask.port), try RawClient(port: ask.port))
            try await halting.send([0x16, 3, 1, 2, 0, 1])
            for client in [silent, halting] { _ = try await client.readToEnd() }
            #expect(try await isAnswered(ask.port))
        }
    }
}
