// The doctor's findings about tokens and secrets in a configuration.

import TestSupport
import Testing

@testable import RollcallDoctor
@testable import RollcallShards

@Suite("The doctor's checks of secrets")
struct ConfigurationChecksTests {
    private func warnings(_ change: (inout WorkerConfiguration) -> Void) -> [String] {
        var configuration = WorkerConfiguration()
        configuration.auth.secret = Secret("7f3a9c1e5b2d8046a1c3e5f7092b4d6f".utf8)
        change(&configuration)
        return ConfigurationChecks(configuration: configuration, problems: [], files: []).findings
            .filter { $0.verdict == .warning && [.authentication, .files].contains($0.check) }.map(\.found)
    }

    @Test("public keys of others require an audience, whatever the issuer")
    func audience() {
        #expect(warnings { _ in } == [])
        for issuer in [nil, "https://id.example"] {
            let found = warnings {
                $0.auth.jwksURL = "https://id.example/keys"
                $0.auth.issuer = issuer
            }
            #expect(found == ["tokens that the same keys sign for other services are valid here too"])
        }
        #expect(
            warnings {
                $0.auth.jwksURL = "https://id.example/keys"
                $0.auth.audience = "chat"
            } == [])
    }

    @Test("an admin port for other machines needs TLS, or the doctor warns about unencrypted tokens")
    func adminTLS() {
        func finding(_ change: (inout WorkerConfiguration.Admin) -> Void) -> Finding? {
            var configuration = WorkerConfiguration()
            configuration.admin.token = Secret("7f3a9c1e5b2d8046a1c3e5f7092b4d6f".utf8)
            change(&configuration.admin)
            return ConfigurationChecks(configuration: configuration, problems: [], files: []).findings
                .first { $0.check == .admin }
        }
        #expect(finding { _ in }?.verdict == .ok)
        let open = finding { $0.host = "10.0.0.5" }
        #expect(open?.verdict == .warning && open?.found.contains("unencrypted") == true)
        let closed = finding {
            $0.host = "10.0.0.5"
            $0.certificate = "a.pem"
            $0.clientAuthority = "b.pem"
        }
        #expect(closed?.verdict == .ok)
        #expect(closed?.found == "https:// on 10.0.0.5:8081, with a token and a client certificate")
        let bare = finding { $0.token = nil }
        #expect(bare?.verdict == .warning)
        #expect(
            bare?.found
                == "on 127.0.0.1:8081 without a token: anyone with an account on this machine can erase users")
        let mutual = finding {
            $0.token = nil
            $0.certificate = "a.pem"
            $0.clientAuthority = "b.pem"
        }
        #expect(mutual?.verdict == .warning)
        #expect(
            mutual?.found
                == "https:// on 127.0.0.1:8081 without a token: anyone with a certificate of admin.client_authority "
                + "can erase users")
    }

    @Test("tokens that outlive revocations are reported")
    func lifetime() {
        #expect(warnings { $0.auth.maxLifetime = $0.presence.retention } == [])
        let found = warnings { $0.auth.maxLifetime = .seconds(31 * 86_400) }
        #expect(found.count == 1 && found[0].contains("31d") && found[0].contains("30d"), "\(found)")
    }

    @Test(
        "secrets that can be guessed are reported, and not shown",
        arguments: [
            String(repeating: "s", count: 32), String(repeating: "0123456789abcdef", count: 2),
            "my-company-Secret-for-chat-2026-x", "changeme-changeme-now-please-all!",
            "abcabcaabbccabcabcaabbccabcabcaa",
        ])
    func weak(secret: String) {
        for change in [
            { $0.auth.secret = Secret(secret.utf8) }, { $0.auth.previousSecret = Secret(secret.utf8) },
            { $0.admin.metricsToken = Secret(secret.utf8) },
        ] as [(inout WorkerConfiguration) -> Void] {
            let found = warnings(change)
            #expect(found.count == 1 && found[0].contains("can be guessed") && !found[0].contains(secret), "\(found)")
        }
    }

    @Test("random secrets are not reported")
    func drawn() {
        var random = SeededGenerator(seed: printedSeed())
        for _ in 0..<200 {
            let hex = (0..<32).map { _ in
                let byte = UInt8.random(in: 0...255, using: &random)
                return (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            #expect(!Secret(hex.utf8).isGuessable)
            #expect(!Secret((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }).isGuessable)
        }
    }
}
