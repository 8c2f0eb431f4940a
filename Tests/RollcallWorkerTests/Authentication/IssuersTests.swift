// Several sign-ins, and files that are no secrets.

import Crypto
import Foundation
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Several issuers")
struct IssuersTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// An issuer with a key of its own under a name that all of them use.
    private struct Party {
        let issuer: String
        let prefix: String?
        let key = P256.Signing.PrivateKey()

        var auth: WorkerConfiguration.Auth {
            var auth = WorkerConfiguration.Auth()
            (auth.issuer, auth.prefix) = (issuer, prefix)
            auth.jwks = #"{"keys":[\#(Tokens.jwk(key, #","kid":"1""#))]}"#
            return auth
        }

        func token(_ claims: String = #""sub":"alice""#, iss: String? = nil, kid: String? = "1") throws -> String {
            let kid = kid.map { #","kid":"\#($0)""# } ?? ""
            return try Tokens.es256(
                #"{"alg":"ES256"\#(kid)}"#, #"{\#(claims),"iss":"\#(iss ?? issuer)","device":"d","exp":1800000000}"#,
                by: key)
        }
    }

    private func user(_ token: String, by authenticator: Authenticator) throws -> String {
        do throws(AuthenticationError) {
            return try authenticator.authenticate(token: token, device: nil, now: now).user.text
        } catch {
            return error.code.rawValue
        }
    }

    @Test("of all pairs, no key of one signs for another, and the same sub is as many users")
    func pairs() throws {
        let parties = [("https://a", nil), ("https://b", "b:"), ("https://c", "c|")].map(Party.init)
        var auth = WorkerConfiguration.Auth()
        auth.issuers = parties.map(\.auth)
        let authenticator = try Authenticator(auth)
        #expect(try parties.map { try user($0.token(), by: authenticator) } == ["alice", "b:alice", "c|alice"])
        for signer in parties {
            for other in parties where other.issuer != signer.issuer {
                for kid in ["1", "2", nil] {
                    let refusal = try user(signer.token(iss: other.issuer, kid: kid), by: authenticator)
                    #expect(["bad_signature", "unknown_key"].contains(refusal), "\(signer.issuer) for \(other.issuer)")
                }
            }
        }
        #expect(try user(parties[0].token(iss: "https://d"), by: authenticator) == "wrong_issuer")
        #expect(try user(parties[0].token(#""sub":"b:alice""#), by: authenticator) == "malformed", "that is another's")
        #expect(try user(parties[1].token(#""sub":"c|alice""#), by: authenticator) == "b:c|alice")
    }

    @Test("each has its own audience, algorithms and claims")
    func rules() throws {
        let (first, second) = (Party(issuer: "https://a", prefix: nil), Party(issuer: "https://b", prefix: "b:"))
        var auth = WorkerConfiguration.Auth()
        auth.issuers = [first.auth, second.auth]
        auth.issuers[0].audience = "app"
        (auth.issuers[1].userClaim, auth.issuers[1].nameClaim) = ("https://b/claims.id", "profile.display")
        let authenticator = try Authenticator(auth)
        #expect(try user(first.token(), by: authenticator) == "wrong_audience")
        #expect(try user(first.token(#""sub":"alice","aud":["x","app"]"#), by: authenticator) == "alice")
        let claims = #""sub":"x","https://b/claims.id":7,"profile":{"display":"Bob"}"#
        let identity = try authenticator.authenticate(token: second.token(claims), device: nil, now: now)
        #expect(identity.user.text == "b:7" && identity.grant.profile.name == "Bob")
        auth.issuers[1].algorithms = ["RS256"]
        #expect(try user(second.token(claims), by: Authenticator(auth)) == "wrong_algorithm")
    }

    /// The parts of an address with a dot are a claim of that name first, and a path then.
    @Test(
        "a user is the text of a claim, or a whole number, whatever the sign-in calls it",
        arguments: [
            ("sub", #""sub":"alice""#, "alice"), ("sub", #""sub":"auth0|5f7c""#, "auth0|5f7c"),
            ("sub", #""sub":"a@b.example""#, "a@b.example"), ("sub", #""sub":"did:web:x#1""#, "did:web:x#1"),
            ("sub", #""sub":"CN=x,O=y/z=""#, "CN=x,O=y/z="), ("sub", #""sub":"1e3""#, "1e3"),
            ("sub", #""sub":"😀""#, "😀"),
            ("sub", #""sub":7"#, "7"), ("sub", #""sub":-7"#, "-7"),
            ("sub", #""sub":9223372036854775807"#, "9223372036854775807"),
            ("sub", #""sub":7.0"#, "7"), ("sub", #""sub":1e3"#, "1000"), ("sub", #""sub":7.5"#, "malformed"),
            ("sub", #""sub":1e400"#, "malformed"), ("sub", #""sub":true"#, "malformed"),
            ("sub", #""sub":null"#, "malformed"),
            ("sub", #""sub":["alice"]"#, "malformed"), ("sub", #""sub":{"id":"alice"}"#, "malformed"),
            ("sub", #""x":1"#, "malformed"), ("sub", #""sub":"""#, "malformed"),
            ("sub", #""sub":"John Smith""#, "malformed"),
            ("sub", #""sub":"a\u00a0b""#, "malformed"), ("sub", #""sub":"a\nb""#, "malformed"),
            ("sub", #""sub":"a{b}""#, "malformed"), ("sub", #""sub":"\ud800""#, "malformed"),
            ("oid", #""sub":"x","oid":"0000-1111""#, "0000-1111"), ("user.id", #""user":{"id":"alice"}"#, "alice"),
            ("user.id", #""user.id":"bob","user":{"id":"alice"}"#, "bob"),
            ("https://x/claims/id", #""https://x/claims/id":12"#, "12"),
            ("https://x.example/id", #""https://x":{"example/id":"no"},"https://x.example/id":"yes""#, "yes"),
            ("a.b.c", #""a":{"b":{"c":"deep"}}"#, "deep"), ("a.b.c", #""a":{"b":"c"}"#, "malformed"),
            ("a.b.c", #""a.b":{"c":"half"}"#, "half"),
        ])
    func shapes(claim: String, claims: String, user name: String) throws {
        let party = Party(issuer: "https://a", prefix: nil)
        var auth = party.auth
        auth.userClaim = claim
        #expect(try user(party.token(claims), by: Authenticator(auth)) == name)
    }

    @Test("a user may have 255 bytes, with the prefix")
    func lengths() throws {
        let party = Party(issuer: "https://a", prefix: "a:")
        let authenticator = try Authenticator(party.auth)
        let longest = String(repeating: "x", count: 253)
        #expect(try user(party.token(#""sub":"\#(longest)""#), by: authenticator) == "a:" + longest)
        #expect(try user(party.token(#""sub":"\#(longest)x""#), by: authenticator) == "malformed")
    }

    @Test("a refusal says both values, to the client only where the issuer has signed them, escaped and cut")
    func told() throws {
        let party = Party(issuer: "https://a/", prefix: nil)
        var auth = party.auth
        auth.audience = "app"
        func refusal(_ token: String) throws -> AuthenticationError {
            let authenticator = try Authenticator(auth)
            return try #require(
                #expect(throws: AuthenticationError.self) {
                    try authenticator.authenticate(token: token, device: nil, now: now)
                })
        }
        let issuer = try refusal(party.token(iss: "https://a"))
        #expect(
            issuer.message.contains(#""https://a""#) && issuer.message.contains(#""https://a/""#) && issuer.isSigned)
        let audience = try refusal(party.token(#""sub":"a","aud":"\u001b[2J\#(String(repeating: "y", count: 999))""#))
        #expect(audience.message.contains(#""\u{1B}[2Jyyy"#) && audience.message.contains(#""app""#))
        #expect(audience.message.utf8.count < 200)
        let space = try refusal(party.token(#""sub":"John Smith","aud":"app""#))
        #expect(space.detail?.contains(#""John Smith""#) == true && space.isSigned)
        let other = Party(issuer: "https://a/", prefix: nil)
        let key = try refusal(other.token(kid: "evil\u{7}"))
        #expect(
            key.code == .malformed
                || key.detail?.contains("kid") == true && !key.message.contains("evil") && !key.isSigned)
        let forged = try refusal(other.token())
        #expect(forged.detail?.contains(#"kid "1""#) == true && !forged.message.contains("kid") && !forged.isSigned)
    }

    @Test(
        "what two users could share, or nobody could use, is refused with 78",
        arguments: [
            (#"[{"iss":"a","jwks_url":"https://a/k"},{"iss":"b","jwks_url":"https://b/k","prefix":"b:"}]"#, nil),
            (#"[{"iss":"a","jwks_url":"https://a/k"},{"iss":"b","jwks_url":"https://b/k"}]"#, "have none"),
            (
                #"[{"iss":"a","jwks_url":"https://a/k","prefix":"x"},{"iss":"b","jwks_url":"https://b/k","prefix":"xy"}]"#,
                "beginning"
            ),
            (
                #"[{"iss":"a","jwks_url":"https://a/k","prefix":"x"},{"iss":"b","jwks_url":"https://b/k","prefix":"x"}]"#,
                "beginning"
            ),
            (
                #"[{"iss":"a","jwks_url":"https://a/k","prefix":"x y"},{"iss":"b","jwks_url":"https://b/k"}]"#,
                "white space"
            ),
            (#"[{"iss":"a","jwks_url":"https://a/k"},{"iss":"a","jwks_url":"https://b/k","prefix":"b:"}]"#, "twice"),
            (#"[{"jwks_url":"https://a/k"}]"#, "no iss"), (#"[{"iss":"a"}]"#, "has no secret_file"),
            (#"[{"iss":"a","jwks_url":"http://a/k"}]"#, "must be"),
            (#"[{"iss":"a","algorithms":["none"]}]"#, "must be"),
            (#"[{"iss":"a","issuer":"b"}]"#, "must be"), (#"[{"iss":7}]"#, "must be"), ("a,b", "must be"),
        ] as [(String, String?)])
    func configured(issuers: String, problem: String?) throws {
        do throws(ConfigurationProblems) {
            let configuration = try WorkerConfiguration.load(environment: [:], overrides: ["auth.issuers": issuers])
            #expect(problem == nil && configuration.auth.issuers.map(\.issuer) == ["a", "b"])
        } catch {
            #expect("\(error)".contains(problem ?? "?") && "\(error)".contains("auth.issuers"), "\(error)")
        }
    }

    /// Regression: nobody could sign in for an hour, and no alert could see it.
    @Test("the age of each key set that is fetched is a metric, also if it was never read")
    func age() async throws {
        var auth = Party(issuer: "https://a", prefix: nil).auth
        (auth.jwks, auth.jwksURL) = (nil, "http://127.0.0.1:1/keys")
        let metrics = PrometheusMetrics()
        let authenticator = try Authenticator(auth, logger: Authenticator.logger, metrics: metrics)
        let running = Task { await authenticator.run() }
        try await eventually("it is told") {
            metrics.exposition().contains("\nrollcall_keys_age_seconds{issuer=\"https://a\"} ")
        }
        running.cancel()
        await running.value
    }

    @Test("they are sections of the file, and keys beside them are refused")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "worker.yaml")
        func load(_ more: String) throws -> WorkerConfiguration.Auth {
            let yaml = """
                auth:
                  issuers:
                    - iss: https://a.example/
                      jwks_url: https://a.example/keys
                      audience: app
                      algorithms: [RS256, ES256]
                    - {iss: "https://b.example", jwks_url: "https://b.example/keys", prefix: "b:", user_claim: oid}
                \(more)
                """
            try Data(yaml.utf8).write(to: file)
            return try WorkerConfiguration.load(file: file, environment: [:]).auth
        }
        let issuers = try load("").issuers
        #expect(issuers.map(\.algorithms) == [["RS256", "ES256"], []] && issuers.map(\.userClaim) == ["sub", "oid"])
        #expect(issuers.map(\.audience) == ["app", nil] && issuers.map(\.prefix) == [nil, "b:"])
        let both = #expect(throws: ConfigurationProblems.self) { try load("  issuer: https://c.example") }
        #expect("\(try #require(both))".contains("auth.issuers"))
    }
}

@Suite("Files that are no secrets")
struct MisplacedKeyTests {
    private static let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
    private static let der = Array(P384.Signing.PrivateKey().publicKey.derRepresentation)
    private static let set = #"{"keys":[\#(Tokens.jwk(P256.Signing.PrivateKey()))]}"#

    /// Regression: with the public key as the secret, who knew it (everybody) signed in as anybody.
    @Test("whatever is a key, a certificate, a key set, a token or a webhook's secret is refused, in any encoding")
    func refused() throws {
        let utf16 = Self.pem.utf8.flatMap { [$0, 0] as [UInt8] }
        let token = try Tokens.hs256(#"{"sub":"alice"}"#)
        let webhook = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        let rows: [(String, [UInt8])] = [
            ("PEM", Array(Self.pem.utf8)), ("PEM with a BOM", [0xEF, 0xBB, 0xBF] + Array(Self.pem.utf8)),
            ("PEM behind text", Array("Bag Attributes\n\(Self.pem)".utf8)),
            ("PEM with CRLF", Array(Self.pem.replacing("\n", with: "\r\n").utf8)),
            ("PEM in UTF-16", [0xFF, 0xFE] + utf16),
            ("PEM in base64", Array(Data(Self.pem.utf8).base64EncodedString().utf8)),
            ("a private key", Array(P256.Signing.PrivateKey().pemRepresentation.utf8)),
            ("DER", Self.der), ("a private key in DER", Array(P256.Signing.PrivateKey().derRepresentation)),
            ("DER in base64", Array(Data(Self.der).base64EncodedString().utf8)),
            (
                "DER in base64 of lines",
                Array(Data(Self.der).base64EncodedString(options: .lineLength64Characters).utf8)
            ),
            ("DER in base64url", Array(Base64URL.text(Data(Self.der)).utf8)),
            ("DER in hex", Array(Self.der.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8)),
            ("a key set", Array(Self.set.utf8)),
            ("a key set with lines", Array(Self.set.replacing(",", with: ",\n").utf8)),
            ("a key of a set", Array(Tokens.jwk(P384.Signing.PrivateKey()).utf8)),
            ("a list of keys", Array("[\(Tokens.jwk(P256.Signing.PrivateKey()))]".utf8)),
            ("a symmetric key of a set", Array(#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMko"}"#.utf8)),
            ("a key set in base64", Array(Data(Self.set.utf8).base64EncodedString().utf8)),
            ("an account", Array(#"{"type":"service_account","private_key":"x","client_email":"y"}"#.utf8)),
            ("discovery", Array(#"{"issuer":"https://a","jwks_uri":"https://a/keys"}"#.utf8)),
            ("a token", Array(token.utf8)),
            ("a token of two lines", Array((token.prefix(20) + "\n" + token.dropFirst(20)).utf8)),
            ("a webhook's secret", Array(webhook.utf8)),
            ("an SSH key", Array("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ a@b".utf8)),
            ("another SSH key", Array("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY a@b".utf8)),
        ]
        for (name, bytes) in rows {
            #expect(MisplacedKey(in: bytes) != nil, "\(name)")
            #expect(throws: UnusableFile.self, "\(name)") {
                try KeySource.secret.keys(in: bytes + Array(repeating: UInt8(ascii: " "), count: 40))
            }
        }
        #expect(rows.count >= 25)
    }

    @Test("what tools and people make as secrets is accepted")
    func accepted() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 32...64)).map { _ in UInt8.random(in: 0...255, using: &random) }
            let forms = [
                bytes, Array(Data(bytes).base64EncodedString().utf8), Array(Base64URL.text(Data(bytes)).utf8),
                Array(bytes.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8),
            ]
            for form in forms { #expect(MisplacedKey(in: form) == nil, "\(form)") }
        }
        for text in [
            "correct horse battery staple and more", "a.b.c", "{not JSON at all, but a phrase of words}", Tokens.secret,
        ] {
            #expect(MisplacedKey(in: Array(text.utf8)) == nil, "\(text)")
        }
    }
}
