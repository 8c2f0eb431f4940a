// Connections to a Redis with TLS, with various certificates.

import Foundation
import NIOSSL
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A connection with TLS", .timeLimit(.minutes(1)))
struct TLSTests {
    private let certificates: TestCertificates

    init() async throws {
        certificates = try TestCertificates()
    }

    private func client(
        _ url: String, trusting authority: TestCertificates? = nil, showing pair: TestCertificates.Pair? = nil,
        name: String? = nil, settings: ConnectionSettings = ConnectionSettings(), waits: Bool = true
    ) async throws -> TestClient {
        let tls = try TLSClient(trusting: authority ?? certificates, showing: pair, name: name)
        return try await TestClient(url, credentials: { Credentials(tls: tls) }, settings: settings, waits: waits)
    }

    @Test("carries commands and messages")
    func works() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let client = try await client(redis.url)
        try await client.subscribe(["typing:{c}"])
        #expect(try await client.publish("hello", on: "typing:{c}") == 1)
        try await client.heard("typing:{c}: hello")
        let replies = try await client.replies((1...5000).map { RedisCommand("EXISTS", "typing:{\($0)}") })
        #expect(try replies.allSatisfy { try $0.get() == .integer(0) })
        try await client.close()
    }

    @Test("is held to the name of the host, or to the name that it is told")
    func name() async throws {
        let redis = try await SecureRedis(certificates.elsewhere, of: certificates)
        for url in [redis.url, redis.url.replacing("127.0.0.1", with: "localhost")] {
            try await client(url, waits: false).fails(with: "its certificate is valid, but names another server")
        }
        try await client(redis.url, name: "redis.example").close()
    }

    @Test("trusts neither an authority that it does not know, nor a certificate that has ended")
    func authority() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let strangers = try TestCertificates(.foreign)
        let old = try await SecureRedis(certificates.expired, of: certificates)
        for client in [
            try await client(redis.url, trusting: strangers, waits: false), try await client(old.url, waits: false),
        ] {
            try await client.fails(with: "its certificate is not trusted, or not valid now")
        }
    }

    @Test("shows a certificate where one is asked for, and is told if it is of no use")
    func clientCertificate() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates, asksWhoComes: true)
        try await client(redis.url, waits: false).fails(with: "it requires a client certificate")
        let strangers = try TestCertificates(.foreign)
        try await client(redis.url, showing: strangers.first, waits: false).fails(with: "it rejects our certificate")
        try await client(redis.url, showing: certificates.first).close()
    }

    @Test("says so where one side speaks TLS and the other does not")
    func oneSided() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        try await client("rediss://127.0.0.1:\(redis.redis.port)", settings: .hasty, waits: false)
            .fails(with: "redis.url begins with redis://")
        try await TestClient("redis://127.0.0.1:\(redis.port)", waits: false).fails(with: "rediss://")
    }
}

extension TLSClient {
    init(trusting certificates: TestCertificates, showing pair: TestCertificates.Pair? = nil, name: String? = nil)
        throws
    {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificates.authority.path)
        if let pair {
            tls.certificateChain = try NIOSSLCertificate.fromPEMFile(pair.certificate.path).map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: pair.key.path, format: .pem))
        }
        self.init(context: try NIOSSLContext(configuration: tls), serverName: name)
    }
}
