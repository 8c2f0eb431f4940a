// The files that a configuration names. Secrets and keys are read with the configuration, so a worker never starts
// without them.

import NIOSSL
import RollcallServer

extension WorkerConfiguration {
    /// Reads the named files, except those whose keys have errors already.
    mutating func readFiles(besides wrong: Set<String>) -> [ConfigurationProblem] {
        var files = NamedFiles(wrong: wrong)
        readSecrets(&files)
        checkCertificates(&files)
        return files.problems + auth.unusableKeys
    }

    private mutating func readSecrets(_ files: inout NamedFiles) {
        redis.password = files.contents("redis.password_file", redis.passwordFile).map { Secret($0.trimmingLineEnds) }
        admin.token = files.secret("admin.token_file", admin.tokenFile)
        admin.appToken = files.secret("admin.app_token_file", admin.appTokenFile)
        admin.readToken = files.secret("admin.read_token_file", admin.readTokenFile)
        admin.metricsToken = files.secret("admin.metrics_token_file", admin.metricsTokenFile)
        auth.secret = files.secret("auth.secret_file", auth.secretFile)
        auth.previousSecret = files.secret("auth.previous_secret_file", auth.previousSecretFile)
        auth.jwks = files.text("auth.jwks_file", auth.jwksFile)
        for place in auth.issuers.indices {
            auth.issuers[place].secret = files.secret("auth.issuers", auth.issuers[place].secretFile)
            auth.issuers[place].jwks = files.text("auth.issuers", auth.issuers[place].jwksFile)
        }
        access.secret = files.secret("access.secret_file", access.secretFile)
        events.webhook.secret = files.secret("events.webhook.secret_file", events.webhook.secretFile)
        _ = files.contents("redis.sentinel_password_file", redis.sentinelPasswordFile)
    }

    private func checkCertificates(_ files: inout NamedFiles) {
        let trust = RedisTrust(
            authority: files.contents("redis.authority", redis.authority),
            certificate: files.contents("redis.certificate", redis.certificate),
            privateKey: files.contents("redis.private_key", redis.privateKey))
        if trust != RedisTrust() { files.check { () throws(UnusableFile) in _ = try trust.context() } }
        let edgePEM = ServerCertificate.Contents(
            chain: files.contents("edge.certificate", edge.certificate),
            key: files.contents("edge.private_key", edge.privateKey))
        let adminPEM = ServerCertificate.Contents(
            chain: files.contents("admin.certificate", admin.certificate),
            key: files.contents("admin.private_key", admin.privateKey),
            clientAuthority: files.contents("admin.client_authority", admin.clientAuthority))
        for case (let pem?, let port) in [(edgePEM, CertificateFiles.Port.edge), (adminPEM, .admin)] {
            files.check { () throws(UnusableFile) in _ = try ServerCertificate(pem, of: port) }
        }
        for (key, path) in [
            ("auth.jwks_authority", auth.jwksAuthority), ("events.webhook.authority", events.webhook.authority),
            ("access.authority", access.authority),
        ] + auth.issuers.map({ ("auth.issuers", $0.jwksAuthority) }) {
            guard let authority = files.contents(key, path),
                (try? NIOSSLCertificate.fromPEMBytes(authority))?.isEmpty != false
            else { continue }
            files.problems.append(ConfigurationProblem(.unusableFile, key, value: path, "it has no certificate (PEM)"))
        }
    }
}

/// Reads files, and notes why one cannot be used.
private struct NamedFiles {
    let wrong: Set<String>
    var problems: [ConfigurationProblem] = []

    mutating func contents(_ key: String, _ path: String?) -> [UInt8]? {
        guard let path, !wrong.contains(key) else { return nil }
        do {
            return try FileContents.read(path)
        } catch {
            problems.append(ConfigurationProblem(.unusableFile, key, value: path, error.reason))
            return nil
        }
    }

    mutating func text(_ key: String, _ path: String?) -> String? {
        contents(key, path).map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func secret(_ key: String, _ path: String?) -> Secret? {
        contents(key, path).map { Secret($0.trimmingWhiteSpace) }
    }

    mutating func check(_ work: () throws(UnusableFile) -> Void) {
        do throws(UnusableFile) {
            try work()
        } catch {
            problems.append(ConfigurationProblem(.unusableFile, error.key, error.reason))
        }
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
