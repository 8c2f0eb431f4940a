// Connections to a Redis with TLS, with various certificates.

import Foundation
import NIOSSL
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A connection with TLS", .timeLimit(.minutes(1)))
struct TLSConnectionTests {
    private let certificates: TestCertificates

    private static let wrongName = "its certificate is valid, but names another server"
    private static let unknownAuthority = "its certificate is not trusted, or not valid now"
    private static let expired = unknownAuthority
    private static let certificateWanted = "it requires a client certificate"
    private static let certificateRefused = "it rejects our certificate"

    init() async throws {
        certificates = try TestCertificates()
    }

    /// A server, trusting the authority of these certificates.
    private func endpoint(
        _ url: String, trusting authority: TestCertificates? = nil, showing pair: TestCertificates.Pair? = nil,
        name: String? = nil
    ) throws -> Endpoint {
        let client = try TLSClient(trusting: authority ?? certificates, showing: pair, name: name)
        return try RedisDeployment(url: url).endpoint { Credentials(tls: client) }
    }

    /// Waits until a connection fails with this description. On a busy machine, a handshake may take longer than an
    /// attempt may, so further attempts count as well.
    private func expectFailure(_ endpoint: Endpoint, _ description: String) async throws {
        let commands = try await Commands(at: endpoint)
        try await eventually("it fails: \(description)") {
            let error = try await commands.use { $0.lastError }
            return (error?.underlying as? TLSFailure)?.description == description
        }
        try await commands.close()
        #expect(commands.events.isEmpty)
    }

    @Test func `carries commands and messages`() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let commands = try await Commands(of: redis.redis, at: try endpoint(redis.url))
        let subscriber = try await Subscriber(of: redis.redis, at: try endpoint(redis.url))
        try await commands.connected()
        try await subscriber.subscribe("typing:{c}")
        #expect(try await commands.send(RedisCommand("PUBLISH", "typing:{c}", "hello")) == .integer(1))
        try await subscriber.heard("typing:{c}: hello")
        let replies = try await commands.replies((1...5000).map { RedisCommand("EXISTS", "typing:{\($0)}") })
        #expect(try replies.allSatisfy { try $0.get() == .integer(0) })
        try await commands.close()
        try await subscriber.close()
    }

    @Test func `is held to the name of the host, or to the name that it is told`() async throws {
        let named = try await SecureRedis(
            certificates.elsewhere, of: certificates)
        let local = named.url.replacing("127.0.0.1", with: "localhost")
        try await expectFailure(try endpoint(named.url), Self.wrongName)
        try await expectFailure(try endpoint(local), Self.wrongName)
        let commands = try await Commands(of: named.redis, at: try endpoint(named.url, name: "redis.example"))
        try await commands.connected()
        try await commands.close()
    }

    @Test func `tells an authority that nobody knows from a certificate that has ended`() async throws {
        let strangers = try TestCertificates(.foreign)
        let redis = try await SecureRedis(certificates.first, of: certificates)
        try await expectFailure(try endpoint(redis.url, trusting: strangers), Self.unknownAuthority)
        let old = try await SecureRedis(certificates.expired, of: certificates)
        try await expectFailure(try endpoint(old.url), Self.expired)
    }

    @Test func `shows a certificate where one is asked for, and is told if it is of no use`() async throws {
        let strangers = try TestCertificates(.foreign)
        let redis = try await SecureRedis(
            certificates.first, of: certificates, asksWhoComes: true)
        try await expectFailure(try endpoint(redis.url), Self.certificateWanted)
        let stranger = strangers.first
        try await expectFailure(try endpoint(redis.url, showing: stranger), Self.certificateRefused)
        let worker = certificates.first
        let commands = try await Commands(of: redis.redis, at: try endpoint(redis.url, showing: worker))
        try await commands.connected()
        try await commands.close()
    }

    @Test func `says so where one side speaks TLS and the other does not`() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let plain = try await Commands(
            at: try endpoint("rediss://127.0.0.1:\(redis.redis.port)"), settings: .hasty)
        try await eventually("it fails, with a hint") {
            try await plain.use { "\($0.lastError, default: "")" }.contains("redis.url begins with redis://")
        }
        try await plain.close()
        let commands = try await Commands(url: "redis://127.0.0.1:\(redis.port)")
        try await eventually("it fails") { try await commands.use { $0.lastError != nil } }
        #expect(try await commands.use { "\($0.lastError!)" }.contains("rediss://"))
        try await commands.close()
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
