// Keys that change while a worker runs, from files and from a URL that the test simulates.

import Crypto
import Foundation
import Logging
import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Keys that change", .timeLimit(.minutes(1)))
struct KeyKeeperTests {
    private let folder: Folder
    private let log = Journal()

    init() throws {
        folder = try Folder()
    }

    private func set(_ kid: String) -> String {
        #"{"keys":[\#(Tokens.jwk(P256.Signing.PrivateKey(), #","kid":"\#(kid)""#))]}"#
    }

    /// Runs `body` with a keeper that starts without keys.
    private func withKeeper(
        files: [KeySource: String] = [:], fetch: KeyKeeper.Fetch? = nil, _ body: (KeyKeeper) async throws -> Void
    ) async throws {
        let logger = Logger(label: "keys") { _ in Scribe(log) }
        let keeper = KeyKeeper(VerificationKeys(), files: files, logger: logger, fetch: fetch)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await keeper.run() }
            defer { tasks.cancelAll() }
            try await body(keeper)
        }
    }

    private func knows(_ keeper: KeyKeeper, _ kid: String) -> Bool {
        !keeper.keys.candidates(.es256, id: ByteString(kid)).isEmpty
    }

    @Test("a replaced key set is read, and a broken one leaves the keys unchanged")
    func file() async throws {
        let file = try folder.file("keys.json", set("1"))
        try await withKeeper(files: [.jwksFile: file.path]) { keeper in
            try await eventually("the first is read") { knows(keeper, "1") }
            #expect(rename(try folder.file("new.json", set("2")).path, file.path) == 0)
            try await eventually("the second is read") { knows(keeper, "2") }
            #expect(!knows(keeper, "1"))
            try folder.file("keys.json", "{")
            try await eventually("it is logged") {
                log.all.contains { $0.hasPrefix("error") && $0.contains("source=auth.jwks_file") }
            }
            try FileManager.default.removeItem(at: file)
            try await eventually("that is logged too") { log.all.contains { $0.contains("there is no such file") } }
            #expect(knows(keeper, "2"))
            try folder.file("keys.json", set("3"))
            try await eventually("the third is read") { knows(keeper, "3") }
        }
    }

    @Test("a secret changes without a restart, and the previous one stays valid while it is configured")
    func secret() async throws {
        let (new, old) = (Tokens.secret, String(repeating: "old!", count: 8))
        let (present, previous) = (try folder.file("secret", old), try folder.file("previous", ""))
        func takes(_ secret: String, _ keeper: KeyKeeper) throws -> Bool {
            let token = try Tokens.hs256(#"{"sub":"alice"}"#, secret: secret)
            return (try? SignedToken(ByteString(token)).claims(signedBy: keeper.keys)) != nil
        }
        try await withKeeper(files: [.secret: present.path, .previousSecret: previous.path]) { keeper in
            try await eventually("the old one is accepted") { try takes(old, keeper) }
            try folder.file("previous", old)
            try folder.file("secret", new)
            try await eventually("the new one is accepted") { try takes(new, keeper) }
            #expect(try takes(old, keeper))
            try folder.file("previous", "\n")
            try await eventually("the old one is refused") { try !takes(old, keeper) }
        }
    }

    @Test("many tokens with unknown keys cause one request to the URL, and the next only after the pause")
    func unknownKeys() async throws {
        let asked = NIOLockedValueBox<[ContinuousClock.Instant]>([])
        let text = NIOLockedValueBox(set("1"))
        let fetch: KeyKeeper.Fetch = {
            asked.withLockedValue { $0.append(.now) }
            return Array(text.withLockedValue { $0 }.utf8)
        }
        try await withKeeper(fetch: fetch) { keeper in
            try await eventually("the first response is used") { knows(keeper, "1") }
            text.withLockedValue { $0 = set("2") }
            for _ in 0..<500 { keeper.look() }
            try await eventually("the second is used") { knows(keeper, "2") }
            let times = asked.withLockedValue { $0 }
            #expect(times.count == 2)
            #expect(times[1] - times[0] >= KeyKeeper.pause)
        }
    }

    /// Regression: a key without a kid was tried for such a token, which was then refused for good, without a request.
    @Test("a token with an unknown kid may have a new key, also if a known key has no kid")
    func unknownBesideUnnamed() async throws {
        let (unnamed, named) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let old = #"{"keys":[\#(Tokens.jwk(unnamed))]}"#
        let new = #"{"keys":[\#(Tokens.jwk(unnamed)),\#(Tokens.jwk(named, #","kid":"n""#))]}"#
        func token(_ header: String, by key: P256.Signing.PrivateKey) throws -> SignedToken {
            try SignedToken(ByteString(try Tokens.es256(header, #"{"sub":"alice"}"#, by: key)))
        }
        func refusal(_ token: SignedToken, _ keeper: KeyKeeper) -> AuthenticationError? {
            do throws(AuthenticationError) {
                _ = try token.claims(signedBy: keeper.keys)
                return nil
            } catch {
                return error
            }
        }
        let text = NIOLockedValueBox(old)
        try await withKeeper(fetch: { Array(text.withLockedValue { $0 }.utf8) }) { keeper in
            try await eventually("the first answer is taken") { knows(keeper, "") }
            let fresh = try token(#"{"alg":"ES256","kid":"n"}"#, by: named)
            #expect(refusal(fresh, keeper)?.code == .unknownKey)
            let forged = try token(#"{"alg":"ES256"}"#, by: named)
            #expect(refusal(forged, keeper)?.code == .badSignature)
            text.withLockedValue { $0 = new }
            keeper.look()
            try await eventually("the new key is fetched") { refusal(fresh, keeper) == nil }
            let stolen = try token(#"{"alg":"ES256","kid":"n"}"#, by: P256.Signing.PrivateKey())
            #expect(refusal(stolen, keeper)?.code == .badSignature)
        }
    }

    @Test("a token that arrives during a request causes another, since this answer may be older than its key")
    func duringAFetch() async throws {
        let answers = NIOLockedValueBox([set("2"), set("1")])
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let asked = Journal()
        let fetch: KeyKeeper.Fetch = {
            let answer = answers.withLockedValue { $0.popLast() } ?? ""
            asked.note("asked")
            for await _ in gate { break }
            return Array(answer.utf8)
        }
        try await withKeeper(fetch: fetch) { keeper in
            try await eventually("the first request is in progress") { asked.contains("asked") }
            keeper.look()
            open.finish()
            try await eventually("the answer to the second is used") { knows(keeper, "2") }
            #expect(asked.count("asked") == 2)
        }
    }

    @Test("a failing URL leaves the keys unchanged, and the reason is reported")
    func failing() async throws {
        struct Away: Error {}
        let answers = NIOLockedValueBox([set("1")])
        let fetch: KeyKeeper.Fetch = {
            guard let next = answers.withLockedValue({ $0.popLast() }) else { throw Away() }
            return Array(next.utf8)
        }
        try await withKeeper(fetch: fetch) { keeper in
            try await eventually("the first response is used") { knows(keeper, "1") }
            #expect(!keeper.isInTheDark)
            keeper.look()
            try await eventually("the second request has failed") { keeper.isInTheDark }
            #expect(knows(keeper, "1"))
            try await eventually("the reason is logged") {
                log.all.contains { $0.contains("source=auth.jwks_url") && $0.contains("Away") }
            }
        }
    }
}
