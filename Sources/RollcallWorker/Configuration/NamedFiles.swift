// The files that a configuration names. Secrets and keys are read with the configuration, so a worker never starts
// without them.

import NIOSSL
import RollcallServer

extension WorkerConfiguration {
    /// Reads the named files, except those whose keys have errors already.
    mutating func readFiles(besides wrong: Set<String>) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func contents(_ key: String, _ path: String?) -> [UInt8]? {
            guard let path, !wrong.contains(key) else { return nil }
            do {
                return try FileContents.read(path)
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, key, value: path, error.reason))
                return nil
            }
        }
        func secret(_ key: String, _ path: String?) -> Secret? {
            contents(key, path).map { Secret($0.trimmingWhiteSpace) }
        }
        func check(_ work: () throws(UnusableFile) -> Void) {
            do throws(UnusableFile) {
                try work()
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, error.key, error.reason))
            }
        }

        redis.password = contents("redis.password_file", redis.passwordFile).map { Secret($0.trimmingLineEnds) }
        admin.token = secret("admin.token_file", admin.tokenFile)
        admin.appToken = secret("admin.app_token_file", admin.appTokenFile)
        admin.readToken = secret("admin.read_token_file", admin.readTokenFile)
        admin.metricsToken = secret("admin.metrics_token_file", admin.metricsTokenFile)
        auth.secret = secret("auth.secret_file", auth.secretFile)
        auth.previousSecret = secret("auth.previous_secret_file", auth.previousSecretFile)
        auth.jwks = contents("auth.jwks_file", auth.jwksFile).map { String(decoding: $0, as: UTF8.self) }
        for place in auth.issuers.indices {
            let issuer = auth.issuers[place]
            auth.issuers[place].secret = secret("auth.issuers", issuer.secretFile)
            auth.issuers[place].jwks = contents("auth.issuers", issuer.jwksFile).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        events.webhook.secret = secret("events.webhook.secret_file", events.webhook.secretFile)
        _ = contents("redis.sentinel_password_file", redis.sentinelPasswordFile)
        let trust = RedisTrust(
            authority: contents("redis.authority", redis.authority),
            certificate: contents("redis.certificate", redis.certificate),
            privateKey: contents("redis.private_key", redis.privateKey))
        if trust != RedisTrust() { check { () throws(UnusableFile) in _ = try trust.context() } }
        let edgePEM = ServerCertificate.Contents(
            chain: contents("edge.certificate", edge.certificate), key: contents("edge.private_key", edge.privateKey))
        let adminPEM = ServerCertificate.Contents(
            chain: contents("admin.certificate", admin.certificate),
            key: contents("admin.private_key", admin.privateKey),
            clientAuthority: contents("admin.client_authority", admin.clientAuthority))
        for case (let pem?, let port) in [(edgePEM, CertificateFiles.Port.edge), (adminPEM, .admin)] {
            check { () throws(UnusableFile) in _ = try ServerCertificate(pem, of: port) }
        }
        for (key, path) in [
            ("auth.jwks_authority", auth.jwksAuthority), ("events.webhook.authority", events.webhook.authority),
        ] + auth.issuers.map({ ("auth.issuers", $0.jwksAuthority) }) {
            guard let authority = contents(key, path),
                (try? NIOSSLCertificate.fromPEMBytes(authority))?.isEmpty != false
            else { continue }
            problems.append(ConfigurationProblem(.unusableFile, key, value: path, "it has no certificate (PEM)"))
        }
        return problems + auth.unusableKeys
    }
}

extension WorkerConfiguration.Auth {
    /// Secrets that are none, and key sets without keys.
    fileprivate var unusableKeys: [ConfigurationProblem] {
        let secrets =
            [
                ("auth.secret_file", secretFile, secret),
                ("auth.previous_secret_file", previousSecretFile, previousSecret),
            ] + issuers.map { ("auth.issuers", $0.secretFile, $0.secret) }
        var problems = secrets.compactMap { key, path, secret in
            secret.flatMap { MisplacedKey(in: $0.bytes) }.map {
                ConfigurationProblem(.unusableFile, key, value: path, $0.sentence)
            }
        }
        for auth in each {
            guard let jwks = auth.jwks else { continue }
            do throws(UnusableFile) {
                _ = try KeySource.jwksFile.keys(in: Array(jwks.utf8))
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, error.key, value: auth.jwksFile, error.reason))
            }
        }
        return problems
    }
}
