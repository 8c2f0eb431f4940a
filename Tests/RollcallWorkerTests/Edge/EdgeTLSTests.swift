// The edge with TLS: which clients it accepts, how its certificate changes, and that the limits hold as without TLS.

import Foundation
import Logging
import NIOSSL
import TestSupport
import Testing

@testable import RollcallServer

@Suite("An edge with TLS", .timeLimit(.minutes(1)))
struct EdgeTLSTests {
    private let certificates: TestCertificates
    private let pair: TestCertificates.Pair

    init() async throws {
        certificates = try TestCertificates()
        pair = certificates.first
    }

    private var files: CertificateFiles {
        CertificateFiles(port: .edge, certificate: pair.certificate.path, privateKey: pair.key.path)
    }

    /// Runs `body` with an edge that keeps its certificate.
    private func withEdge(
        _ change: (inout EdgeSettings) -> Void = { _ in }, answer: @escaping RecordingShard.Answer = Self.echo,
        body: (TestEdge) async throws -> Void
    ) async throws {
        let keeper = try CertificateKeeper(files, logger: Logger(label: "tls"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await keeper.run() }
            defer { tasks.cancelAll() }
            try await TestEdge.with {
                $0.tls = keeper
                change(&$0)
            } answer: { text, connection in
                answer(text, connection)
            } body: { edge in
                try await body(edge)
            }
        }
    }

    private static let echo: RecordingShard.Answer = { text, connection in
        connection.send(ServerFrame(text: Array("echo \(text)".utf8)))
    }

    /// A client after the TLS and WebSocket handshakes.
    private func client(_ edge: TestEdge, receiveBuffer: Int32? = nil) async throws -> TLSClient {
        let client = try await TLSClient(
            port: edge.port, trusting: certificates.authority, receiveBuffer: receiveBuffer)
        try await client.send(TestEdge.request())
        try await client.hears("\r\n\r\n")
        return client
    }

    @Test("TLS 1.2 and 1.3 are supported, older versions are not, and ALPN selects HTTP/1.1")
    func versions() async throws {
        try await withEdge { edge in
            for version in [TLSVersion.tlsv12, .tlsv13] {
                let client = try await TLSClient(port: edge.port, trusting: certificates.authority) {
                    ($0.minimumTLSVersion, $0.maximumTLSVersion) = (version, version)
                }
                #expect(client.alpn == "http/1.1")
                try await client.send(TestEdge.request())
                try await client.hears("HTTP/1.1 101")
            }
            await #expect(throws: (any Error).self) {
                try await TLSClient(port: edge.port, trusting: certificates.authority) {
                    ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11)
                }
            }
        }
    }

    @Test("a CBC suite of TLS 1.2 is refused")
    func ciphers() async throws {
        try await withEdge { edge in
            func connects(with cipher: NIOTLSCipher) async -> Bool {
                let client = try? await TLSClient(port: edge.port, trusting: certificates.authority) {
                    $0.maximumTLSVersion = .tlsv12
                    $0.cipherSuiteValues = [cipher]
                }
                return client != nil
            }
            #expect(await connects(with: .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256))
            #expect(await !connects(with: .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA))
        }
    }

    @Test("a new certificate is used for new connections within seconds, and open ones stay")
    func replaced() async throws {
        try await withEdge { edge in
            let before = try await client(edge)
            try certificates.replace(pair, with: certificates.second)
            try await eventually("the second certificate is shown", every: .milliseconds(200)) {
                let client = try await TLSClient(port: edge.port, trusting: certificates.authority)
                defer { Task { try await client.close() } }
                return try await client.serverName()?.contains("second") == true
            }
            #expect(try await before.serverName()?.contains("first") == true)
            try await before.send(.text("still here"))
            try await before.hears("echo still here")
        }
    }

    @Test("an unusable pair leaves the previous one in place, and the log names the wrong file")
    func broken() async throws {
        let log = Journal()
        let keeper = try CertificateKeeper(files, logger: Logger(label: "tls") { _ in Scribe(log) })
        let other = certificates.second
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await keeper.run() }
            defer { tasks.cancelAll() }
            // The first look at the files reads them once more.
            try await eventually("it is logged") { log.all.contains { $0.contains("certificate in use") } }
            let context = keeper.context
            // The certificate of one key with another key, and then no certificate at all.
            try FileManager.default.copyItem(
                at: other.certificate, to: certificates.folder.appending(path: "beside"))
            #expect(rename(certificates.folder.appending(path: "beside").path, pair.certificate.path) == 0)
            try await eventually("it is logged") { log.all.contains { $0.contains("edge.private_key") } }
            try Data("nothing".utf8).write(to: pair.certificate)
            try await eventually("it is logged") { log.all.contains { $0.contains("key=edge.certificate") } }
            #expect(keeper.context === context)
            try certificates.replace(pair, with: other)
            try await eventually("the right pair is taken") { keeper.context !== context }
        }
    }

    @Test("a client that does not finish the TLS handshake in time, or does not use TLS, is disconnected")
    func slowHandshakes() async throws {
        try await withEdge {
            $0.handshake = .milliseconds(300)
        } body: { edge in
            let silent = try (0..<20).map { _ in try RawClient(port: edge.port) }
            let halting = try RawClient(port: edge.port)
            try await halting.send([0x16, 3, 1, 2, 0, 1])
            let plain = try RawClient(port: edge.port)
            try await plain.send(TestEdge.request())
            #expect(try await !String(decoding: plain.readToEnd(), as: UTF8.self).contains("HTTP"))
            for client in silent + [halting] { _ = try await client.readToEnd() }
            #expect(edge.journal.all == [])
        }
    }

    @Test("a reader that is too slow for too long is closed, and one that reads again gets everything")
    func slowReader() async throws {
        try await withEdge {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(500)
            $0.closing = .seconds(20)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
            connection.send(ServerFrame(text: Array("done \(connection.outboundBytes > 1 << 20)".utf8)))
        } body: { edge in
            let client = try await client(edge, receiveBuffer: 4096)
            try await client.setReading(false)
            try await client.send(.text("flood"))
            try await eventually("the shard is notified") { edge.journal.contains("here 4001") }
            #expect(edge.journal.all == ["connected", "flood", "fell behind", "here 4001"])
            try await client.setReading(true)
            try await client.hears("done true")
            try await client.hears(#""reason":"slow""#)
            try await eventually("the stream ends in order") { client.hasEnded }
            try await eventually("and so does the connection") { try await edge.journal.webSockets() == 0 }
        }
    }

    @Test("a snapshot does not make its reader slow, and its end is reported")
    func snapshot() async throws {
        try await withEdge {
            $0.outboundBytes = 1 << 20
            $0.slowFor = .milliseconds(300)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await client(edge, receiveBuffer: 4096)
            try await client.setReading(false)
            try await client.send(.text("snapshot"))
            try await eventually("it waits") { edge.journal.contains("fell behind") }
            let end = try await edge.journal.awake() + .milliseconds(600)
            try await eventually("more than slow_for has passed, as the loop counts") {
                try await edge.journal.awake() > end
            }
            try await client.setReading(true)
            try await eventually("it is read") { edge.journal.contains("drained") }
            #expect(edge.journal.all == ["connected", "snapshot", "fell behind", "drained"])
        }
    }

    @Test("an abandoned connection is cut at once, without waiting for TLS")
    func givenUp() async throws {
        try await withEdge {
            $0.outboundBytes = 64 << 10
            $0.closing = .milliseconds(300)
        } answer: { text, connection in
            RecordingShard.flood(text, connection)
        } body: { edge in
            let client = try await client(edge, receiveBuffer: 4096)
            try await client.setReading(false)
            try await client.send(.text("snapshot"))
            try await eventually("the shard is notified") { edge.journal.contains("here 4001") }
            try await eventually("no connection is left") { try await edge.journal.webSockets() == 0 }
        }
    }
}
