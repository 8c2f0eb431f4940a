// Tokens and key sets of the shapes that providers of sign-in have, from a key server on this machine, with the settings that
// docs/identity.md gives for each.

import Crypto
import CryptoExtras
import Foundation
import Hummingbird
import Logging
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Providers of sign-in", .timeLimit(.minutes(1)))
struct ProviderTests {
    struct Provider: CustomTestStringConvertible {
        let name: String
        let issuer: String
        /// `nil` where no token names one.
        let audience: String?
        var header = #"{"alg":"RS256","kid":"k1","typ":"JWT"}"#
        /// Besides `iss`, `iat` and `exp`.
        let claims: String
        /// What the entry of the key has besides the key itself, and the entries beside it.
        var key = #","use":"sig","alg":"RS256""#
        var others = ""

        var testDescription: String { name }
    }

    static let providers = [
        Provider(
            name: "Firebase", issuer: "https://securetoken.google.com/PROJECT", audience: "PROJECT",
            claims: #"""
                "aud":"PROJECT","auth_time":1700000000,"user_id":"u1","sub":"u1","email":"a@b.example","email_verified":true,
                "firebase":{"identities":{"email":["a@b.example"]},"sign_in_provider":"password"}
                """#),
        Provider(
            name: "Auth0", issuer: "https://TENANT.auth0.com/", audience: "https://chat.example/api",
            header: #"{"alg":"RS256","typ":"at+jwt","kid":"k1"}"#,
            claims: #"""
                "aud":["https://chat.example/api","https://TENANT.auth0.com/userinfo"],"sub":"auth0|65f0","azp":"app",
                "scope":"openid profile","gty":"password"
                """#, key: #","use":"sig","alg":"RS256","x5t":"aGk","x5c":["MIIC"]"#),
        Provider(
            name: "Cognito", issuer: "https://cognito-idp.REGION.amazonaws.com/POOL", audience: nil,
            header: #"{"kid":"k1","alg":"RS256"}"#,
            claims: #"""
                "sub":"aaaaaaaa-bbbb","cognito:groups":["a"],"client_id":"c1","origin_jti":"o","event_id":"e",
                "token_use":"access","scope":"aws.cognito.signin.user.admin","auth_time":1700000000,"jti":"j","username":"u"
                """#),
        Provider(
            name: "Keycloak", issuer: "https://HOST/realms/REALM", audience: "account",
            claims: #"""
                "aud":"account","sub":"f1-2","typ":"Bearer","azp":"app","sid":"s","acr":"1","allowed-origins":["*"],
                "realm_access":{"roles":["offline_access"]},"preferred_username":"alice"
                """#, key: #","use":"sig","alg":"RS256","x5c":["MIIC"],"x5t#S256":"aGk""#,
            others: #",{"kid":"e1","kty":"RSA","alg":"RSA-OAEP","use":"enc","n":"AQAB","e":"AQAB"}"#),
        Provider(
            name: "Supabase", issuer: "https://PROJECT.supabase.co/auth/v1", audience: "authenticated",
            header: #"{"alg":"ES256","kid":"k2","typ":"JWT"}"#,
            claims: #"""
                "aud":"authenticated","sub":"8c2e","role":"authenticated","aal":"aal1","session_id":"s","is_anonymous":false,
                "app_metadata":{"provider":"email"},"user_metadata":{}
                """#),
        Provider(
            name: "Clerk", issuer: "https://APP.clerk.accounts.dev", audience: nil,
            claims: #""azp":"https://chat.example","fva":[0,-1],"nbf":1700000000,"sid":"sess_1","sub":"user_1","v":2"#),
        Provider(
            name: "Entra", issuer: "https://login.microsoftonline.com/TENANT/v2.0", audience: "CLIENT",
            claims: #"""
                "aud":"CLIENT","nbf":1700000000,"azp":"app","azpacr":"0","name":"Alice","oid":"o1","scp":"chat","sub":"pairwise",
                "tid":"TENANT","uti":"u","ver":"2.0"
                """#,
            key: #","use":"sig","x5t":"k1","x5c":["MIIC"],"issuer":"https://login.microsoftonline.com/{tenantid}/v2.0""#
        ),
        Provider(
            name: "Apple", issuer: "https://appleid.apple.com", audience: "BUNDLE",
            header: #"{"kid":"k1","alg":"RS256"}"#,
            claims:
                #""aud":"BUNDLE","sub":"001.a.02","c_hash":"h","email":"x@privaterelay.appleid.com","is_private_email":"true""#
        ),
    ]

    @Test(
        "a token of each is taken with the settings of the docs, and one for another app or issuer is not",
        arguments: providers)
    func taken(provider: Provider) async throws {
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let elliptic = P256.Signing.PrivateKey()
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let (n, e) = (Tokens.base64URL(numbers.modulus), Tokens.base64URL(numbers.publicExponent))
        let set = #"""
            {"keys":[{"kty":"RSA","kid":"k1","n":"\#(n)","e":"\#(e)"\#(provider.key)},
            \#(Tokens.jwk(elliptic, #","kid":"k2","alg":"ES256","use":"sig","key_ops":["verify"],"ext":true"#))\#(provider.others)]}
            """#
        func token(issuer: String) throws -> String {
            let (now, isElliptic) = (Int(Date.now.timeIntervalSince1970), provider.header.contains("ES256"))
            let payload = #"{"iss":"\#(issuer)","iat":\#(now),"exp":\#(now + 3600),\#(provider.claims)}"#
            return try Tokens.signed(header: provider.header, payload) {
                isElliptic
                    ? try elliptic.signature(for: $0).rawRepresentation
                    : try rsa.signature(for: $0, padding: .insecurePKCS1v1_5).rawRepresentation
            }
        }
        let router = Router()
        router.get("keys") { _, _ in set }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: router, server: HTTPConnections.server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "issuer") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await server.run() }
            defer { tasks.cancelAll() }
            let listening = await ports.first { _ in true } ?? 0
            var auth = WorkerConfiguration.Auth()
            (auth.issuer, auth.audience) = (provider.issuer, provider.audience)
            auth.jwksURL = "http://127.0.0.1:\(listening)/keys"
            let authenticator = try Authenticator(auth)
            tasks.addTask { await authenticator.run() }
            let (good, phone) = (try token(issuer: provider.issuer), try DeviceID("phone"))
            try await eventually("the keys are fetched, and the token is taken") {
                (try? authenticator.authenticate(token: good, device: phone)) != nil
            }
            let foreign = try token(issuer: provider.issuer + "x")
            #expect(throws: AuthenticationError.self) { try authenticator.authenticate(token: foreign, device: phone) }
            guard provider.audience != nil else { return }
            auth.audience = "another"
            auth.secret = Secret(Tokens.secret.utf8)
            let other = try Authenticator(auth)
            tasks.addTask { await other.run() }
            try await eventually("a token for another app is refused for that") {
                do {
                    _ = try other.authenticate(token: good, device: phone)
                    return false
                } catch { return (error as? AuthenticationError)?.code == .wrongAudience }
            }
        }
    }

    @Test("the docs have these settings", arguments: providers)
    func documented(provider: Provider) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let page = try String(contentsOf: root.appending(path: "docs/identity.md"), encoding: .utf8)
        let audience = provider.audience.map { "`\($0)`" } ?? "–"
        #expect(page.contains("|\(provider.name)|`\(provider.issuer)`|\(audience)|"))
    }
}
