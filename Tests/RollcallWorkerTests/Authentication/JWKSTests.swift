import Crypto
import Foundation
import RollcallCore
import RollcallProtocol
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Authentication with public keys")
struct JWKSTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let claims = #"{"sub":"alice","exp":1800000000,"device":"iphone"}"#
    private let p256 = P256.Signing.PrivateKey()
    private let p384 = P384.Signing.PrivateKey()
    private let ed25519 = Curve25519.Signing.PrivateKey()

    private func jwk(_ key: P256.Signing.PrivateKey, _ rest: String) -> String { Tokens.jwk(key, rest) }
    private func jwk(_ key: P384.Signing.PrivateKey, _ rest: String) -> String { Tokens.jwk(key, rest) }

    private func jwk(_ key: Curve25519.Signing.PrivateKey, _ rest: String) -> String {
        #"{"kty":"OKP","crv":"Ed25519","x":"\#(Tokens.base64URL(key.publicKey.rawRepresentation))"\#(rest)}"#
    }

    /// A key made with OpenSSL, and a token signed with it, since creating RSA keys is slow.
    private static let rsa =
        #"{"kty":"RSA","e":"AQAB","kid":"r","alg":"RS256","use":"sig","n":""#
        + "4SX0d3vnTG2a8QAHTUwqOPOebsuRSgbHEfc6JhO2bXX-LzSfkr7mmD26_bjGcdkWg627vLYdsoZKVtIIJdZ46bRzV6ogn7c"
        + "6zUOAkByLL0Uh5FuCkQj--BJvnpJxCE0mA0KmoYUXzV_bBkJ7r0zp-Ma6eGa0FjUzbwS2d8eQ4zby-xUtL-hLIIUWfRaiuJ"
        + "J1Nr78g7p3QQkezmFh0sUVEdQp4QDdxFpcaYx4opm7rRGDXzs5L6CoXT_uV0M-tIltfIGr5cgW5_1ikZzYbLRlBwS3CJDx6"
        + "AVbPu4gA2BK-LPC8-tJij7jikYQuvJbmpGVtUhHBoVy3vWmoEAP-B_mHw"
        + "\"}"
    private static let rsaToken =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJzdWIiOiJhbGljZSIsImV4cCI6MTgwMDAwMDAwMCwiZGV2aWNlIjoiaXBo"
        + "b25lIn0.E7GTkZvD3Syd5eDKXH9f8s-9o8VzF1prZQu00VAosOD_BnAXmTX8pMwbFeytAZ7mMTYWvBUBBDH0jItQTlPsbMO"
        + "GFWfVLy5mo9FORuJirBrFPattMwCxaIvgOaCFbuPu3tg2pKd_mg7Vkj-xVCYaRk0IyYB8l96MVt0GS0cOoHKHTf5ZnTm_sR"
        + "Ug17FNJjIhLGwMyGP5Rek6NCYZnJR2dZh1laHbE-ZsBwhkhUhda7s5UOFM-b09ON--cwdm36QKenPbMvDKKhyIAsf-Gy8WM"
        + "2pptfMDO-OViFs4Qjedk8HevkQSaG8tHtoKxyg36Agwvx6qEjYrIDJc4b2mWO1rAg"

    private func authenticator(_ keys: String...) throws -> Authenticator {
        var auth = WorkerConfiguration.Auth()
        auth.jwks = #"{"keys":[\#(keys.joined(separator: ","))]}"#
        return try Authenticator(auth)
    }

    private func es256(_ header: String, by key: P256.Signing.PrivateKey) throws -> String {
        try Tokens.es256(header, claims, by: key)
    }

    private func es384(_ header: String) throws -> String {
        try Tokens.signed(header: header, claims) { try p384.signature(for: $0).rawRepresentation }
    }

    private func refusal(_ token: String, by authenticator: Authenticator) throws -> AuthenticationError.Code? {
        do {
            #expect(try authenticator.authenticate(token: token, device: nil, now: now).user.text == "alice")
            return nil
        } catch {
            return error.code
        }
    }

    @Test("RS256, PS256, ES256, ES384 and EdDSA tokens are accepted, each by its kid")
    func algorithms() throws {
        let authenticator = try authenticator(
            Self.rsa, PSSKey.jwk(#","alg":"PS256""#), jwk(p256, #","kid":"e""#), jwk(p384, #","kid":"f""#),
            jwk(ed25519, #","kid":"d""#))
        let tokens = [
            Self.rsaToken, PSSKey.ps256,
            try es256(#"{"alg":"ES256","kid":"e"}"#, by: p256),
            try es384(#"{"alg":"ES384","kid":"f"}"#),
            try Tokens.signed(header: #"{"alg":"EdDSA","kid":"d"}"#, claims, by: ed25519.signature(for:)),
        ]
        for token in tokens {
            #expect(try refusal(token, by: authenticator) == nil)
            #expect(try refusal(String(token.dropLast(8)), by: authenticator) == .badSignature)
        }
    }

    @Test("a signature of the wrong length is refused without a crash")
    func lengths() throws {
        let authenticator = try authenticator(
            Self.rsa, PSSKey.jwk(#","alg":"PS256""#), jwk(p256, ""), jwk(p384, ""), jwk(ed25519, ""))
        for algorithm in ["RS256", "PS256", "ES256", "ES384", "EdDSA"] {
            let signed = Tokens.parts(#"{"alg":"\#(algorithm)"}"#, claims)
            for length in [0, 1, 31, 63, 64, 65, 96, 255, 256, 257, 5000] {
                for byte: UInt8 in [0, 255] {
                    let signature = Tokens.base64URL(Data(repeating: byte, count: length))
                    #expect(try refusal(signed + "." + signature, by: authenticator) == .badSignature)
                }
            }
        }
    }

    @Test("a kid selects the key; without one, every key of the algorithm is tried")
    func choice() throws {
        let other = P256.Signing.PrivateKey()
        let authenticator = try authenticator(jwk(p256, #","kid":"1""#), jwk(other, #","kid":"2""#))
        #expect(try refusal(es256(#"{"alg":"ES256","kid":"2"}"#, by: other), by: authenticator) == nil)
        #expect(try refusal(es256(#"{"alg":"ES256"}"#, by: other), by: authenticator) == nil)
        #expect(try refusal(es256(#"{"alg":"ES256","kid":"1"}"#, by: other), by: authenticator) == .badSignature)
        #expect(try refusal(es256(#"{"alg":"ES256","kid":"3"}"#, by: other), by: authenticator) == .unknownKey)
    }

    @Test("a key is used only for its own algorithm, whatever a token's header says")
    func confusion() throws {
        let authenticator = try authenticator(jwk(p256, ""))
        // The classic attack: using the public key as an HMAC secret.
        let known = p256.publicKey.pemRepresentation
        #expect(try refusal(Tokens.hs256(claims, secret: known), by: authenticator) == .wrongAlgorithm)
        #expect(try refusal(es256(#"{"alg":"EdDSA"}"#, by: p256), by: authenticator) == .unknownKey)
        #expect(try refusal(es256(#"{"alg":"none"}"#, by: p256), by: authenticator) == .wrongAlgorithm)
        #expect(try refusal(es256(#"{"alg":"ES256"}"#, by: p256), by: authenticator) == nil)
    }

    /// The same RSA key could check both; what its entry says decides.
    @Test("an RSA key serves RS256 or PS256, as its entry says, and never both")
    func padding() throws {
        let pss = try authenticator(PSSKey.jwk(#","alg":"PS256""#))
        #expect(try refusal(PSSKey.ps256, by: pss) == nil)
        #expect(try refusal(PSSKey.rs256, by: pss) == .unknownKey)
        #expect(try refusal(PSSKey.mixed, by: pss) == .badSignature)
        for rest in [#","alg":"RS256""#, ""] {
            let pkcs1 = try authenticator(PSSKey.jwk(rest))
            #expect(try refusal(PSSKey.rs256, by: pkcs1) == nil)
            #expect(try refusal(PSSKey.ps256, by: pkcs1) == .unknownKey)
        }
    }

    @Test("a key of one curve never serves the algorithm of another")
    func curves() throws {
        let authenticator = try authenticator(
            jwk(p256, #","alg":"ES384""#), jwk(p384, #","alg":"ES256""#), jwk(p384, #","alg":"RS256""#),
            PSSKey.jwk(#","alg":"ES384""#), PSSKey.jwk(#","alg":"PS384""#), jwk(ed25519, ""))
        #expect(try refusal(es256(#"{"alg":"ES256"}"#, by: p256), by: authenticator) == .unknownKey)
        #expect(try refusal(es384(#"{"alg":"ES384"}"#), by: authenticator) == .unknownKey)
        let p384Alone = try self.authenticator(jwk(p384, ""))
        #expect(try refusal(es384(#"{"alg":"ES384"}"#), by: p384Alone) == nil)
        #expect(try refusal(es384(#"{"alg":"ES256"}"#), by: p384Alone) == .unknownKey)
    }

    @Test("a secret and a key set can be used together")
    func both() throws {
        var auth = WorkerConfiguration.Auth()
        auth.secret = Secret(Tokens.secret.utf8)
        auth.jwks = #"{"keys":[\#(jwk(p256, #","kid":"e""#))]}"#
        let authenticator = try Authenticator(auth)
        #expect(try refusal(Tokens.hs256(claims), by: authenticator) == nil)
        #expect(try refusal(es256(#"{"alg":"ES256","kid":"e"}"#, by: p256), by: authenticator) == nil)
    }

    @Test("keys of other kinds and uses are ignored")
    func strangers() throws {
        let authenticator = try authenticator(
            #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"quantum"}"#, jwk(p256, #","use":"enc""#),
            jwk(p256, #","alg":"ES512""#), jwk(ed25519, ""),
            jwk(p256, "").replacing("P-256", with: "secp256k1"), jwk(p256, "").replacing("P-256", with: "P-521"),
            jwk(ed25519, #","kid":"x""#).replacing("Ed25519", with: "Ed448"))
        #expect(try refusal(es256(#"{"alg":"ES256"}"#, by: p256), by: authenticator) == .unknownKey)
    }

    /// Regression: one of them refused the whole set, and nobody got in.
    @Test("entries that cannot be used are skipped and named, and of more than 100 keys the first 100 count")
    func unusableEntries() throws {
        let padded = Self.rsa.replacing("HwqX", with: "").replacing("\"AQAB\"", with: "\"AQAB=\"")
        let strange = [
            "null", "7", "[]", #"{"kid":"no type"}"#, jwk(p256, #","kid":7"#), padded,
            #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"OKP","crv":"Ed25519"}"#,
            jwk(p256, "").replacing(#""y""#, with: #""z""#), #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
            jwk(p256, #","kid":"\#(String(repeating: "k", count: 300))""#).replacing(#""x""#, with: #""w""#),
        ]
        let good = [jwk(ed25519, #","kid":"d""#), jwk(p256, #","use":"enc""#)]
        let set = #"{"keys":[\#((strange + good).joined(separator: ","))]}"#
        let read = try KeySource.jwksFile.keys(in: Array(set.utf8))
        #expect(read.keys.map(\.id) == ["d"])
        #expect(read.skipped.count == strange.count && read.skipped.allSatisfy { $0.utf8.count < 200 })
        let many = (0..<150).map { jwk(ed25519, #","kid":"\#($0)""#) }.joined(separator: ",")
        let first = try KeySource.jwksURL.keys(in: Array(#"{"keys":[\#(many)]}"#.utf8))
        #expect(first.keys.map(\.id) == (0..<100).map { ByteString("\($0)") } && first.skipped.count == 50)
    }

    @Test("where a key set is configured, a public key that it lacks may come later; other algorithms never do")
    func missing() throws {
        let authenticator = try authenticator(Self.rsa)
        let missing = try es256(#"{"alg":"ES256","kid":"e"}"#, by: p256)
        #expect(try refusal(missing, by: authenticator) == .unknownKey)
        #expect(AuthenticationError(.unknownKey, "").end.code == .busy)
        for header in [#"{"alg":"RS512","kid":"r"}"#, #"{"alg":"HS256"}"#, #"{"alg":"none"}"#] {
            #expect(try refusal(es256(header, by: p256), by: authenticator) == .wrongAlgorithm, "\(header)")
        }
    }

    @Test(
        "an unusable key set is a configuration problem",
        arguments: [
            "", "[]", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, #"{"keys":[7]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, #"{"keys":[{"kty":"EC","crv":"P-256"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#, #"{"keys":[{"kty":"RSA","n":"","e":""}]}"#,
            #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
        ])
    func unusable(text: String) {
        var auth = WorkerConfiguration.Auth()
        auth.jwks = text
        do {
            _ = try Authenticator(auth)
            Issue.record("the set was accepted")
        } catch {
            #expect(error.problems.map(\.key) == ["auth.jwks_file"])
            #expect(error.problems.map(\.code) == [.unusableFile])
        }
    }
}
