// Judges a configuration: errors that a worker would reject, and valid settings that carry a risk.

import Logging
import RollcallConfiguration
import RollcallRedis
import RollcallShards

/// Judges a configuration.
struct ConfigurationChecks {
    let configuration: WorkerConfiguration
    let problems: [ConfigurationProblem]
    /// The files that it names, with their permissions.
    let files: [NamedFile]

    var findings: [Finding] {
        sound
            + (authentication + [edge, admin, conversations, log, secrets] + guessable).filter { finding in
                // The errors are reported separately, and a finding about the default in their place would mislead.
                finding.verdict != .ok || problems.isEmpty
            }
    }

    private var sound: [Finding] {
        if problems.isEmpty { return [Finding(.configuration, .ok, "a worker accepts it")] }
        return problems.map { Finding(.configuration, .failure, "\($0)") }
    }

    private func isWrong(_ key: String) -> Bool { problems.contains { $0.key == key } }
}

extension ConfigurationChecks {
    private var authentication: [Finding] {
        let auth = configuration.auth
        guard auth.mode == .jwt else {
            return [
                Finding(
                    .authentication, .warning,
                    "auth.mode is insecure: anyone who can reach the edge on this machine can be "
                        + "any user",
                    advice: "except for trials use jwt, with auth.secret_file or auth.jwks_file")
            ]
        }
        var found: [Finding] = []
        if auth.audience == nil, auth.jwksURL != nil || auth.jwksFile != nil {
            found.append(
                Finding(
                    .authentication, .warning, "tokens that the same keys sign for other services are valid here too",
                    advice: "set auth.audience, and auth.issuer"))
        }
        let retention = configuration.presence.retention
        if let longest = auth.maxLifetime, longest > retention {
            found.append(
                Finding(
                    .authentication, .warning,
                    "a token may live for \(DurationText.text(longest)), and the revocation of its user is deleted "
                        + "after \(DurationText.text(retention)): then the token is valid again",
                    advice: "set auth.max_lifetime to no more than presence.retention"))
        }
        return found.isEmpty ? [Finding(.authentication, .ok, "tokens are checked (auth.mode: jwt)")] : found
    }

    /// Secrets that a person typed or copied from an example.
    private var guessable: [Finding] {
        let (auth, admin) = (configuration.auth, configuration.admin)
        let secrets =
            [("auth.secret_file", auth.secret), ("auth.previous_secret_file", auth.previousSecret)]
            + AdminRole.allCases.map { ($0.key, admin.contents($0)) }
        return secrets.compactMap { key, secret in
            guard !isWrong(key), let secret, !secret.bytes.isEmpty, secret.isGuessable else { return nil }
            return Finding(
                .files, .warning, "the secret in \(key) can be guessed: it repeats itself, or contains a common word",
                advice: "generate another: openssl rand -hex 32")
        }
    }

    private var edge: Finding {
        let edge = configuration.edge
        let place = "\(edge.host):\(edge.port)"
        if edge.certificate != nil { return Finding(.edge, .ok, "wss:// on \(place)") }
        guard !Loopback.contains(edge.host) else { return Finding(.edge, .ok, "ws:// on \(place), this machine only") }
        return Finding(
            .edge, .warning, "ws:// on \(place): tokens are unencrypted unless a proxy in front adds TLS",
            advice: "set edge.certificate and edge.private_key, or let only the proxy reach the port")
    }

    private var admin: Finding {
        let admin = configuration.admin
        let place = "\(admin.host):\(admin.port)"
        let scheme = admin.certificate == nil ? "" : "https:// "
        let callers = admin.clientAuthority == nil ? "with a token" : "with a token and a client certificate"
        if admin.token != nil, admin.certificate != nil || Loopback.contains(admin.host) {
            return Finding(.admin, .ok, "\(scheme)on \(place), \(callers)")
        }
        guard admin.token == nil else {
            return Finding(
                .admin, .warning, "http:// on \(place): tokens are unencrypted unless a proxy in front adds TLS",
                advice: "set admin.certificate and admin.private_key, or let only your servers reach the port")
        }
        let others =
            admin.clientAuthority == nil
            ? "anyone with an account on this machine" : "anyone with a certificate of admin.client_authority"
        return Finding(
            .admin, .warning, "\(scheme)on \(place) without a token: \(others) can erase users",
            advice: "set admin.token_file (openssl rand -hex 32 > admin.token)")
    }

    private var conversations: Finding {
        guard configuration.conversations.default == .open else {
            return Finding(.conversations, .ok, "closed: only members may join")
        }
        return Finding(
            .conversations, .warning,
            "open: every authenticated user may join conversations whose members were never set, "
                + "or were lost with Redis's data",
            advice: "if your server sets members, set conversations.default to closed")
    }

    private var log: Finding {
        guard configuration.log.level < .info else { return Finding(.log, .ok, "\(configuration.log.level)") }
        return Finding(
            .log, .warning, "\(configuration.log.level): the log names users, and grows with their number",
            advice: "keep log.level at info except when you debug")
    }

    /// A secret that others can read is not secret.
    private var secrets: Finding {
        let open = files.filter { $0.isSecret && ($0.mode ?? 0) & 0o007 != 0 }
        if let file = open.first {
            let names = open.map { "\($0.key) \($0.path) (\(String($0.mode ?? 0, radix: 8)))" }
            return Finding(
                .files, .warning, "every user of this machine can read \(names.joined(separator: ", "))",
                advice: "chmod o= \(open.count == 1 ? file.path : open.map(\.path).joined(separator: " "))")
        }
        if let url = files.first(where: \.isConfiguration), (url.mode ?? 0) & 0o004 != 0, hasPasswordInURL {
            return Finding(
                .files, .warning,
                "every user of this machine can read \(url.path), where redis.url may contain the "
                    + "password",
                advice: "put the password into a separate file, and name that in redis.password_file")
        }
        let secrets = files.count(where: \.isSecret)
        guard secrets > 0 else { return Finding(.files, .ok, "no file with a secret") }
        return Finding(.files, .ok, "\(Amount.count(secrets, "file")) with secrets, none readable by every user")
    }

    private var hasPasswordInURL: Bool {
        !isWrong("redis.url") && configuration.redis.deployment?.password != nil
    }
}
