// Connections to a Redis with TLS, with various certificates.

import Foundation
import NIOSSL
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A connection with TLS", .timeLimit(.minutes(1)))
struct TLSConnectionTests {
    private let certificates: TestCertificates

    init() async throws {
        certificates = try TestCertificates()
    }

    /// The route to a server, trusting the authority of these certificates.
    private func route(
        _ url: String, trusting authority: TestCertificates? = nil, showing pair: TestCertificates.Pair? = nil,
        name: String? = nil
    ) throws -> any RedisRoute {
        let client = try TLSClient(trusting: authority ?? certificates, showing: pair, name: name)
        return try RedisDeployment(url: url).route(
            credentials: { Credentials(tls: client) }, on: Commands.loop, logger: quiet)
    }

    /// Returns why a connection fails.
    ///
    /// - Parameter maySaySilence: whether ``TLSFailure/Reason/silence`` can be the answer. Otherwise the next attempt is
    ///   waited for: on a busy machine, a handshake may take longer than an attempt may.
    private func reason(_ route: any RedisRoute, maySaySilence: Bool = false) async throws -> TLSFailure.Reason? {
        let commands = try await Commands(along: route)
        var error: RedisError?
        var reason: TLSFailure.Reason?
        try await eventually("it fails") {
            error = try await commands.use { $0.lastError }
            reason = (error?.underlying as? TLSFailure)?.reason
            return reason != nil && (maySaySilence || reason != .silence)
        }
        try await commands.close()
        #expect(commands.events.isEmpty || error?.code == .connectionLost)
        return reason
    }

    @Test func `carries commands and messages`() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let commands = try await Commands(of: redis.redis, along: try route(redis.url))
        let subscriber = try await Subscriber(of: redis.redis, along: try route(redis.url))
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
        #expect(try await reason(try route(named.url)) == .wrongName)
        #expect(try await reason(try route(local)) == .wrongName)
        let commands = try await Commands(of: named.redis, along: try route(named.url, name: "redis.example"))
        try await commands.connected()
        try await commands.close()
    }

    @Test func `tells an authority that nobody knows from a certificate that has ended`() async throws {
        let strangers = try TestCertificates(.foreign)
        let redis = try await SecureRedis(certificates.first, of: certificates)
        #expect(try await reason(try route(redis.url, trusting: strangers)) == .unknownAuthority)
        let old = try await SecureRedis(certificates.expired, of: certificates)
        #expect(try await reason(try route(old.url)) == .expired)
    }

    @Test func `shows a certificate where one is asked for, and is told if it is of no use`() async throws {
        let strangers = try TestCertificates(.foreign)
        let redis = try await SecureRedis(
            certificates.first, of: certificates, asksWhoComes: true)
        #expect(try await reason(try route(redis.url)) == .certificateWanted)
        let stranger = strangers.first
        #expect(try await reason(try route(redis.url, showing: stranger)) == .certificateRefused)
        let worker = certificates.first
        let commands = try await Commands(of: redis.redis, along: try route(redis.url, showing: worker))
        try await commands.connected()
        try await commands.close()
    }

    @Test func `says so where one side speaks TLS and the other does not`() async throws {
        let redis = try await SecureRedis(certificates.first, of: certificates)
        let plainly = try await reason(
            try route("rediss://127.0.0.1:\(redis.redis.port)"), maySaySilence: true)
        #expect(plainly.map { [.silence, .ended, .noTLS].contains($0) } == true)
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
