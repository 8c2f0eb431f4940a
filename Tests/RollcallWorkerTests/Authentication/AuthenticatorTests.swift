import Foundation
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Authentication with a secret")
struct AuthenticatorTests {
    /// 2023-11-14 22:13:20 UTC.
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let iphone: DeviceID
    private let authenticator: Authenticator

    init() throws {
        iphone = try DeviceID("iphone")
        authenticator = try Self.authenticator()
    }

    private static func authenticator(
        secret: String = Tokens.secret, _ change: (inout WorkerConfiguration.Auth) -> Void = { _ in }
    ) throws -> Authenticator {
        var auth = WorkerConfiguration.Auth()
        auth.secret = Secret(secret.utf8)
        auth.leeway = .zero
        change(&auth)
        return try Authenticator(auth)
    }

    private func refusal(
        _ token: String, device: String? = "iphone", by other: Authenticator? = nil
    ) throws -> AuthenticationError.Code? {
        do {
            _ = try (other ?? authenticator).authenticate(token: token, device: device.map(DeviceID.init), now: now)
            return nil
        } catch let error as AuthenticationError {
            return error.code
        }
    }

    @Test("a valid token gives the user and the expiry")
    func good() throws {
        let identity = try authenticator.authenticate(
            token: try Tokens.hs256(#"{"sub":"alice","exp":1700000001}"#), device: iphone, now: now)
        #expect(identity.user.text == "alice")
        #expect(identity.device == iphone)
        #expect(identity.expires == now + 1)
    }

    @Test("the example of RFC 7515, appendix A.1, is verified unchanged")
    func example() throws {
        // The RFC's key is not text; its base64url form is.
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
        let bytes = try #require(
            Data(base64Encoded: key.replacing("-", with: "+").replacing("_", with: "/") + "=="))
        var auth = WorkerConfiguration.Auth()
        auth.secret = Secret(bytes)
        auth.issuer = "joe"
        auth.leeway = .zero
        let token =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let authenticator = try Authenticator(auth)
        // It has expired and has no `sub`. Both are checked only after the signature.
        #expect(try refusal(token, by: authenticator) == .expired)
        let anonymous = #expect(throws: AuthenticationError.self) {
            try authenticator.authenticate(
                token: token, device: iphone, now: Date(timeIntervalSince1970: 1_300_819_379))
        }
        #expect(anonymous?.code == .malformed && anonymous?.message == "the token has no sub")
        #expect(try refusal(token) == .badSignature)
    }

    @Test("a token is valid until its exp, to the second, and expiry is reported separately from other errors")
    func expiry() throws {
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1700000000}"#)) == .expired)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1700000000.5}"#)) == nil)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice"}"#)) == .malformed)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":"soon"}"#)) == .malformed)
        #expect(AuthenticationError(.expired, "").end.code == .tokenExpired)
        #expect(AuthenticationError(.badSignature, "").end.code == .busy)
    }

    @Test(
        "an exp beyond all calendars means the end of 9999", arguments: ["1e18", "1e308", "9999999999999999999"])
    func distantExpiry(expiry: String) throws {
        let identity = try authenticator.authenticate(
            token: try Tokens.hs256(#"{"sub":"alice","exp":\#(expiry)}"#), device: iphone, now: now)
        #expect(identity.expires == Date(timeIntervalSince1970: 253_402_300_799))
    }

    @Test("a token is valid from its nbf, to the second")
    func notBefore() throws {
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1800000000,"nbf":1700000000}"#)) == nil)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1800000000,"nbf":1700000001}"#)) == .notYetValid)
    }

    @Test("the issuer's clock may differ by the leeway in both directions; the session then ends later as well")
    func leeway() throws {
        let lenient = try Self.authenticator { $0.leeway = .seconds(30) }
        func code(_ rest: String) throws -> AuthenticationError.Code? {
            try refusal(Tokens.hs256(#"{"sub":"alice",\#(rest)}"#), by: lenient)
        }
        #expect(try code(#""exp":1800000000,"nbf":1700000030"#) == nil)
        #expect(try code(#""exp":1800000000,"nbf":1700000031"#) == .notYetValid)
        #expect(try code(#""exp":1699999971"#) == nil)
        #expect(try code(#""exp":1699999970"#) == .expired)
        let identity = try lenient.authenticate(
            token: try Tokens.hs256(#"{"sub":"alice","exp":1700000001}"#), device: iphone, now: now)
        #expect(identity.expires == now + 31)
        #expect(WorkerConfiguration.Auth().leeway == .seconds(30))
    }

    @Test("a token with a future iat or nbf is valid later: its device is told when to retry, or in two seconds")
    func issuedAhead() throws {
        let lenient = try Self.authenticator { $0.leeway = .seconds(30) }
        func wait(_ rest: String) throws -> Duration? {
            let token = try Tokens.hs256(#"{"sub":"alice","exp":1800000000,\#(rest)}"#)
            do throws(AuthenticationError) {
                _ = try lenient.authenticate(token: token, device: iphone, now: now)
                return nil
            } catch {
                #expect(error.code == .notYetValid && error.end.code == .busy)
                return error.wait
            }
        }
        #expect(try wait(#""iat":1700000030"#) == nil)
        #expect(try wait(#""iat":1700000031"#) == .seconds(1))
        #expect(try wait(#""nbf":1700000060,"iat":1700000040"#) == .seconds(2))
        #expect(try wait(#""iat":1800000000"#) == .seconds(2))
        #expect(try wait(#""iat":1e300"#) == .seconds(2))
    }

    @Test("a token that lives longer than revocations are kept, or has no lifetime, is refused")
    func maxLifetime() throws {
        let strict = try Self.authenticator {
            $0.leeway = .seconds(30)
            $0.maxLifetime = .seconds(3600)
        }
        func code(_ rest: String) throws -> AuthenticationError.Code? {
            try refusal(Tokens.hs256(#"{"sub":"alice",\#(rest)}"#), by: strict)
        }
        #expect(try code(#""iat":1700000000,"exp":1700003600"#) == nil)
        #expect(try code(#""iat":1700000000,"exp":1700003601"#) == .livesTooLong)
        #expect(try code(#""iat":1690000000,"exp":1800000000"#) == .livesTooLong)
        #expect(try code(#""exp":1700000001"#) == .livesTooLong)
        #expect(try code(#""iat":1700000000"#) == .malformed)
        #expect(AuthenticationError(.livesTooLong, "").end.code == .busy)
    }

    /// Regression: behind a balancer, one worker whose clock was ten minutes ahead refused 29 of 30 devices for good.
    @Test(
        "a token is too old or too young only if this host's clock and Redis's both say so",
        arguments: [
            // Seconds since the issuer issued a token for a minute, by both clocks; the answer, and for how long it counts.
            (host: 0.0, redis: 0.0, code: nil, lifetime: 60.0), (600, 0, nil, 60), (0, 600, nil, 60),
            (600, 600, .expired, 0), (-600, 0, nil, 660), (0, -600, nil, 660), (-600, -600, .notYetValid, 0),
            (3659, 0, nil, 1), (3661, 0, .expired, 0), (0, 3661, nil, 60), (3630, -600, nil, 30),
        ] as [(host: Double, redis: Double, code: AuthenticationError.Code?, lifetime: Double)])
    func clocks(host: Double, redis: Double, code: AuthenticationError.Code?, lifetime: Double) throws {
        let issued = 1_784_600_000.0
        let token = try Tokens.hs256(#"{"sub":"alice","iat":\#(Int(issued)),"exp":\#(Int(issued) + 60)}"#)
        let clocks = TokenClocks(
            host: Date(timeIntervalSince1970: issued + host), redis: Date(timeIntervalSince1970: issued + redis))
        do throws(AuthenticationError) {
            let identity = try authenticator.identity(token: ByteString(token), device: iphone, clocks: clocks)
            #expect(code == nil && identity.expires.map { clocks.seconds(until: $0) } == lifetime)
        } catch {
            #expect(error.code == code)
        }
    }

    /// Otherwise, a token revoked in the second of its `iat` would be valid again during the leeway.
    @Test("the leeway does not extend a token beyond the maximum lifetime")
    func leewayWithinLifetime() throws {
        let strict = try Self.authenticator {
            $0.leeway = .seconds(30)
            $0.maxLifetime = .seconds(3600)
        }
        func end(_ claims: String) throws -> Date? {
            let token = try Tokens.hs256(#"{"sub":"alice",\#(claims)}"#)
            return try strict.authenticate(token: token, device: iphone, now: now).expires
        }
        #expect(try end(#""iat":1699996410,"exp":1700000010"#) == now + 10)
        #expect(try end(#""iat":1699996420,"exp":1700000010"#) == now + 20)
        #expect(try end(#""iat":1699999000,"exp":1700000010"#) == now + 40)
    }

    @Test("tokens of the previous secret are accepted besides those of the current one, and no others")
    func rotation() throws {
        let before = "the secret before, and long enough"
        let both = try Self.authenticator { $0.previousSecret = Secret(before.utf8) }
        let claims = #"{"sub":"alice","exp":1800000000}"#
        #expect(try refusal(Tokens.hs256(claims), by: both) == nil)
        #expect(try refusal(Tokens.hs256(claims, secret: before), by: both) == nil)
        #expect(try refusal(Tokens.hs256(claims, secret: before)) == .badSignature)
        let none = try Self.authenticator { $0.previousSecret = Secret([]) }
        #expect(try refusal(Tokens.hs256(claims, secret: before), by: none) == .badSignature)
    }

    @Test("the token's device takes precedence, and a client that claims another is refused")
    func device() throws {
        let bound = try Tokens.hs256(#"{"sub":"alice","exp":1800000000,"device":"iphone"}"#)
        #expect(try authenticator.authenticate(token: bound, device: nil, now: now).device == iphone)
        #expect(try refusal(bound) == nil)
        #expect(try refusal(bound, device: "ipad") == .wrongDevice)
        let free = try Tokens.hs256(#"{"sub":"alice","exp":1800000000}"#)
        #expect(try refusal(free, device: nil) == .noDevice)
        #expect(AuthenticationError(.wrongDevice, "").end.code == .badToken)
        #expect(AuthenticationError(.noDevice, "").end.code == .badMessage)
    }

    @Test("names in a token are validated like all names")
    func names() throws {
        for sub in [#""""#, #""a b""#, #""a{b""#, "7.5", "null", #"["alice"]"#] {
            #expect(try refusal(Tokens.hs256(#"{"sub":\#(sub),"exp":1800000000}"#)) == .malformed, "\(sub)")
        }
        #expect(try refusal(Tokens.hs256(#"{"exp":1800000000}"#)) == .malformed)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1800000000,"device":"a b"}"#)) == .malformed)
    }

    @Test("issuer and audience are checked if they are configured")
    func issuerAndAudience() throws {
        let strict = try Self.authenticator {
            $0.issuer = "https://id.example"
            $0.audience = "chat"
        }
        func token(_ rest: String) throws -> String {
            try Tokens.hs256(#"{"sub":"alice","exp":1800000000,\#(rest)}"#)
        }
        #expect(try refusal(token(#""iss":"https://id.example","aud":"chat""#), by: strict) == nil)
        #expect(try refusal(token(#""iss":"https://id.example","aud":["mail","chat"]"#), by: strict) == nil)
        #expect(try refusal(token(#""iss":"https://evil.example","aud":"chat""#), by: strict) == .wrongIssuer)
        #expect(try refusal(token(#""aud":"chat""#), by: strict) == .wrongIssuer)
        #expect(try refusal(token(#""iss":"https://id.example""#), by: strict) == .wrongAudience)
        #expect(try refusal(token(#""iss":"https://id.example","aud":"mail""#), by: strict) == .wrongAudience)
        #expect(try refusal(token(#""iss":"https://id.example","aud":[]"#), by: strict) == .wrongAudience)
        #expect(try refusal(token(#""iss":"x","aud":[]"#)) == nil)
    }

    @Test("a changed token, another secret, another algorithm and no algorithm are refused")
    func forgeries() throws {
        let claims = #"{"sub":"alice","exp":1800000000}"#
        let good = try Tokens.hs256(claims)
        let parts = good.split(separator: ".")
        let mallory = Tokens.base64URL(Data(#"{"sub":"mallory","exp":1800000000}"#.utf8))
        #expect(try refusal(good) == nil)
        #expect(try refusal("\(parts[0]).\(mallory).\(parts[2])") == .badSignature)
        #expect(try refusal("\(parts[0]).\(parts[1]).") == .badSignature)
        #expect(try refusal("\(parts[0]).\(parts[1]).\(parts[2].dropLast(3))") == .badSignature)
        #expect(try refusal(Tokens.hs256(claims, secret: "another secret, and long enough...")) == .badSignature)
        for header in [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"HS512"}"#, #"{"alg":"RS256"}"#, #"{"alg":""}"#,
        ] {
            #expect(try refusal(Tokens.hs256(header: header, claims)) == .wrongAlgorithm, "\(header)")
            #expect(try refusal(Tokens.parts(header, claims) + ".") == .wrongAlgorithm, "\(header)")
        }
        #expect(
            try refusal(Tokens.hs256(header: #"{"alg":"HS256","crit":["exp"],"exp":1}"#, claims)) == .malformed)
        #expect(try refusal(Tokens.hs256(header: #"{"alg":"HS256","kid":"any"}"#, claims)) == nil)
    }

    @Test("a token that was issued for something else is refused, whoever signed it")
    func types() throws {
        let claims = #"{"sub":"alice","exp":1800000000}"#
        func code(_ type: String, secret: String = Tokens.secret) throws -> AuthenticationError.Code? {
            try refusal(Tokens.hs256(header: #"{"alg":"HS256","typ":\#(type)}"#, claims, secret: secret))
        }
        for type in [
            "JWT", "jwt", "Jwt", "at+jwt", "AT+JWT", "application/jwt", "application/at+jwt", "Application/At+JWT",
        ] {
            #expect(try code(#""\#(type)""#) == nil, "\(type)")
        }
        #expect(try code("null") == nil)
        #expect(try refusal(Tokens.hs256(header: #"{"alg":"HS256"}"#, claims)) == nil)
        for type in [
            "secevent+jwt", "logout+jwt", "dpop+jwt", "id_token+jwt", "JWE", "", " JWT", "jwt;v=1", "application/",
            "application/application/jwt", "text/jwt", "at+jwt+jwt", "JWT\\u0000",
        ] {
            #expect(try code(#""\#(type)""#) == .wrongType, "\(type)")
        }
        for type in ["7", "[]", #"["JWT"]"#, "true"] { #expect(try code(type) == .malformed, "\(type)") }
        // Without the key, a client cannot learn about this rule or flood the log.
        #expect(try code(#""secevent+jwt""#, secret: String(Tokens.secret.reversed())) == .badSignature)
        #expect(AuthenticationError(.wrongType, "").end.code == .busy)
    }

    @Test(
        "an invalid token is refused",
        arguments: [
            "", ".", "..", "...", "a.b.c", "alice", "e30.e30.e30", "e30=.e30.", "é.é.é",
            Tokens.parts("[]", "{}") + ".AAAA", Tokens.parts(#"{"alg":7}"#, "{}") + ".AAAA",
            Tokens.parts("{}", "{}") + ".AAAA",
        ])
    func noToken(token: String) throws {
        #expect(try refusal(token) == .malformed)
    }

    @Test("whatever is wrong with a token, a code and a sentence say so, in the length of a close frame")
    func sentences() throws {
        let good = try Tokens.hs256(#"{"sub":"alice","exp":1800000000,"device":"iphone"}"#)
        for token in [
            "Bearer \(good)", "\(good)\n", "", "a.b.c", "é.é.é", Tokens.parts(#"{"alg":"RS512"}"#, "{}") + ".AAAA",
            try Tokens.hs256(header: #"{"alg":"HS256","crit":["exp"]}"#, "{}"), try Tokens.hs256(#"{"sub":7}"#),
            try Tokens.hs256(#"{"sub":"a b","exp":1800000000}"#), try Tokens.hs256(#"{"sub":"alice","exp":1}"#),
        ] {
            let error = #expect(throws: AuthenticationError.self) {
                try authenticator.authenticate(token: token, device: nil, now: now)
            }
            let said = "\(try #require(error))"
            #expect(said.contains(": ") && said.utf8.count <= 160 && !said.contains("alice"), "\(said)")
        }
    }

    @Test("a payload that is not a JSON object is refused", arguments: ["", "[]", "{", "\u{0}", "null"])
    func noClaims(payload: String) throws {
        #expect(try refusal(Tokens.hs256(payload)) == .malformed)
    }

    /// Some libraries crash on both before they check the signature.
    @Test(
        "numbers beyond Int and empty lists do not crash a worker",
        arguments: [
            (#"{"alg":"HS256","x":1e300}"#, #"{"sub":"alice","exp":1800000000}"#),
            (#"{"alg":"HS256","kid":null}"#, #"{"sub":"alice","exp":1800000000,"aud":[]}"#),
            (#"{"alg":"HS256"}"#, #"{"sub":"alice","exp":1e300,"nbf":-1e300,"iat":-1e300}"#),
        ])
    func extremes(header: String, payload: String) throws {
        #expect(try refusal(Tokens.hs256(header: header, payload)) == nil)
    }

    @Test("random bytes and mutations are refused without a crash")
    func mutations() throws {
        var random = SeededGenerator(seed: printedSeed())
        let good = Array(
            try Tokens.hs256(#"{"sub":"alice","exp":1800000000,"aud":["a"],"device":"iphone"}"#).utf8)
        for _ in 0..<2000 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 33...126, using: &random)
            }
            // A change of only the unused bits of the last letter changes nothing that is signed.
            guard bytes.dropLast() != good.dropLast() else { continue }
            #expect(try refusal(String(decoding: bytes, as: UTF8.self)) != nil)
        }
    }

    @Test("in insecure mode the token is the user, perhaps with a name behind it, and a device is required")
    func insecure() throws {
        let insecure = try Self.authenticator { $0.mode = .insecure }
        let identity = try insecure.authenticate(token: "alice", device: iphone, now: now)
        #expect(identity == Identity(user: try UserID("alice"), device: iphone, expires: nil))
        #expect(try refusal("alice", device: nil, by: insecure) == .noDevice)
        for (token, name) in [("alice Ada \t Lovelace ", "Ada  Lovelace"), ("alice ", nil), ("alice  ", nil)] {
            let grant = try insecure.authenticate(token: token, device: iphone, now: now).grant
            #expect(grant.profile == Profile(name: name.map(ByteString.init)))
        }
        #expect(try refusal("a{b", by: insecure) == .malformed)
        #expect(try refusal(" alice", by: insecure) == .malformed)
        #expect(try refusal("", by: insecure) == .malformed)
    }

    @Test(
        "the claim name, or that of auth.name_claim, is cleaned and never refused",
        arguments: [
            (#""name":"Ada""#, "name", "Ada"), (#""name":7"#, "name", nil), (#""name":{"full":"Ada"}"#, "name", nil),
            (#""name":["Ada"]"#, "name", nil), (#""name":null"#, "name", nil), (#""name":"""#, "name", nil),
            (#""name":" \u202eA\nd\ta\u0000 ""#, "name", "Ada"), (#""name":"Ada""#, nil, nil),
            (#""user_metadata":{"full_name":"Ada"}"#, "user_metadata.full_name", "Ada"),
            (#""user_metadata":"Ada""#, "user_metadata.full_name", nil),
            (#""https://a.example/name":"Ada","https://a":{"example/name":"B"}"#, "https://a.example/name", "Ada"),
            (#""a":{"b":1},"a":{"b":"Ada"}"#, "a.b", "Ada"),
            (#""name":"\#(String(repeating: "a", count: 5000))""#, "name", String(repeating: "a", count: 128)),
        ])
    func names(claims: String, claim: String?, name: String?) throws {
        let authenticator = try Self.authenticator { $0.nameClaim = claim }
        let token = try Tokens.hs256(#"{"sub":"alice","iat":1799999999,"exp":1800000000,\#(claims)}"#)
        let identity = try authenticator.authenticate(
            token: token, device: iphone, now: Date(timeIntervalSince1970: 1_799_999_999))
        #expect(identity.grant.profile.name?.string == name)
    }

    @Test(
        "the claims join and watch are each \"*\" or at most 50 names and patterns",
        arguments: [
            (#""*""#, JoinRight.all), ("[]", JoinRight.only([])), ("null", nil), (#"["*"]"#, JoinRight.only(["*"])),
            (#"["c42","team7:*"]"#, JoinRight.only(["c42", "team7:*"])),
        ])
    func join(text: String, right: JoinRight?) throws {
        let token = try Tokens.hs256(#"{"sub":"alice","exp":1700000001,"join":\#(text),"watch":\#(text)}"#)
        let grant = try authenticator.authenticate(token: token, device: iphone, now: now).grant
        #expect(grant.join == right && "\(grant.watch, default: "")" == "\(right, default: "")")
    }

    @Test(
        "a claim join or watch of another form refuses the token, with a rule of its own",
        arguments: [
            #""c42""#, #"["a b"]"#, #"[""]"#, "[1]", "{}", "true",
            "[" + Array(repeating: #""c""#, count: 51).joined(separator: ",") + "]",
        ])
    func wrongJoin(text: String) throws {
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1700000001,"join":\#(text)}"#)) == .wrongJoin)
        #expect(try refusal(Tokens.hs256(#"{"sub":"alice","exp":1700000001,"watch":\#(text)}"#)) == .wrongWatch)
    }

    @Test("minted tokens are accepted by workers with the same configuration")
    func minting() throws {
        var auth = WorkerConfiguration.Auth()
        auth.secret = Secret(Tokens.secret.utf8)
        auth.issuer = "rollcall"
        auth.audience = "chat"
        auth.leeway = .zero
        let minter = try TokenMinter(auth)
        let authenticator = try Authenticator(auth)
        let alice = try UserID("alice")
        let token = try minter.token(
            for: alice, device: iphone, name: "Ada", join: .only(["c"]), watch: .only(["b*"]), lifetime: .seconds(60),
            now: now)
        let identity = try authenticator.authenticate(token: token, device: nil, now: now)
        let grant = Grant(join: .only(["c"]), watch: .only(["b*"]), profile: Profile(name: "Ada"))
        #expect(identity == Identity(user: alice, device: iphone, expires: now + 60, issued: now, grant: grant))
        let brief = try minter.token(for: alice, lifetime: .milliseconds(1), now: now)
        #expect(try refusal(brief, by: authenticator) == nil)
        auth.secret = Secret("too short".utf8)
        #expect(throws: ConfigurationProblems.self) { try TokenMinter(auth) }
        #expect(throws: ConfigurationProblems.self) { try Authenticator(auth) }
        auth.secret = nil
        #expect(throws: ConfigurationProblems.self) { try Authenticator(auth) }
    }
}
