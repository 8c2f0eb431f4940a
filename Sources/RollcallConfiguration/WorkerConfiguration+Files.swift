// The files that a configuration names. Secrets and keys are read with the configuration, so a worker never starts
// without them.

import NIOSSL
import RollcallListener
import RollcallShards

extension WorkerConfiguration {
    /// Reads the named files, except those whose keys have errors already.
    mutating func readFiles(besides wrong: Set<String>) async -> [ConfigurationProblem] {
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

        redis.password = contents("redis.password_file", redis.passwordFile).map { Secret($0.trimmingLineEnds) }
        admin.token = contents("admin.token_file", admin.tokenFile).map { Secret($0.trimmingWhiteSpace) }
        admin.readToken = contents("admin.read_token_file", admin.readTokenFile).map { Secret($0.trimmingWhiteSpace) }
        admin.metricsToken = contents("admin.metrics_token_file", admin.metricsTokenFile)
            .map { Secret($0.trimmingWhiteSpace) }
        auth.secret = contents("auth.secret_file", auth.secretFile).map { Secret($0.trimmingWhiteSpace) }
        auth.previousSecret = contents("auth.previous_secret_file", auth.previousSecretFile)
            .map { Secret($0.trimmingWhiteSpace) }
        auth.jwks = contents("auth.jwks_file", auth.jwksFile).map { String(decoding: $0, as: UTF8.self) }
        _ = contents("redis.sentinel_password_file", redis.sentinelPasswordFile)
        let trust = RedisTrust(
            authority: contents("redis.authority", redis.authority),
            certificate: contents("redis.certificate", redis.certificate),
            privateKey: contents("redis.private_key", redis.privateKey))
        let edgePEM = ServerCertificate.Contents(
            chain: contents("edge.certificate", edge.certificate), key: contents("edge.private_key", edge.privateKey))
        let adminPEM = ServerCertificate.Contents(
            chain: contents("admin.certificate", admin.certificate),
            key: contents("admin.private_key", admin.privateKey),
            clientAuthority: contents("admin.client_authority", admin.clientAuthority))

        do throws(UnusableFile) {
            if trust != RedisTrust() { _ = try trust.context() }
        } catch {
            problems.append(ConfigurationProblem(.unusableFile, error.key, error.reason))
        }

        for (port, pem) in [(CertificateFiles.Port.edge, edgePEM), (.admin, adminPEM)] {
            guard let pem else { continue }
            do {
                _ = try ServerCertificate(pem, of: port)
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, error.key, error.reason))
            }
        }

        if let authority = contents("auth.jwks_authority", auth.jwksAuthority),
            (try? NIOSSLCertificate.fromPEMBytes(authority))?.isEmpty != false
        {
            problems.append(
                ConfigurationProblem(
                    .unusableFile, "auth.jwks_authority", value: auth.jwksAuthority, "it has no certificate (PEM)"))
        }

        if let jwks = auth.jwks {
            do {
                _ = try await VerificationKeys.publicKeys(jwks: jwks)
            } catch {
                problems.append(
                    ConfigurationProblem(.unusableFile, "auth.jwks_file", value: auth.jwksFile, error.description))
            }
        }
        return problems
    }
}
