// What the doctor finds in a valid configuration that is a risk, and on this host: readable secrets, open files, ports.

import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RollcallProtocol
import RollcallRedis
import RollcallServer

/// Judges a configuration and the host that a worker would run on.
struct HostChecks {
    let configuration: WorkerConfiguration
    /// The keys that have errors.
    let wrong: Set<String>
    /// The path of the configuration file.
    let file: String?

    var authentication: [Finding] {
        let auth = configuration.auth
        guard auth.mode == .jwt else {
            return [
                rules,
                Finding(
                    .authentication, .warning,
                    "auth.mode is insecure: anyone who can reach the edge on this machine can be any user",
                    advice: "except for trials use jwt, with auth.secret_file or auth.jwks_file"),
            ]
        }
        var found: [Finding] = []
        if auth.each.contains(where: { $0.audience == nil && ($0.jwksURL != nil || $0.jwksFile != nil) }) {
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
        for (listener, host, certificate) in [
            ("edge", configuration.edge.host, configuration.edge.certificate),
            ("admin", configuration.admin.host, configuration.admin.certificate),
        ] where certificate == nil && !Loopback.contains(host) {
            found.append(
                Finding(
                    .authentication, .warning,
                    "tokens are unencrypted on \(listener).host \(host) unless a proxy in front adds TLS",
                    advice: "set \(listener).certificate and .private_key, or let only the proxy reach the port"))
        }
        let demands = auth.each.map { each in
            let prefix = each.prefix.map { ", prefix \($0)" } ?? ""
            return "iss \(each.issuer ?? "any"), aud \(each.audience ?? "any")\(prefix)"
        }
        let checked = "tokens are checked (auth.mode: jwt): \(demands.joined(separator: "; "))"
        return found.isEmpty ? [Finding(.authentication, .ok, checked), rules] : found
    }

    /// Who may join, and who may ask about whom.
    var rules: Finding {
        let conversations =
            if let url = configuration.access.url {
                "\(url) decides who may join conversations without members, except for tokens whose claim join opens them"
            } else if configuration.isOpenByDefault {
                "everybody may join conversations without members (conversations.default: open)"
            } else {
                "conversations without members are closed, except to tokens whose claim join opens them"
            }
        let presence =
            switch configuration.watchByDefault {
            case .anyone: "any signed-in user may read any user's presence (access.watch: anyone)"
            case .shared:
                "users see those with whom they share a conversation of at most "
                    + "\(configuration.access.sharedMembers) members, and whom the claim watch names"
            }
        return Finding(.authentication, .ok, "\(conversations); \(presence)")
    }

    /// The key sets, fetched as a worker fetches them.
    func keys() async -> [Finding] {
        guard configuration.auth.mode == .jwt,
            wrong.isDisjoint(with: ["auth.jwks_url", "auth.jwks_authority", "auth.issuers"])
        else { return [] }
        var findings: [Finding] = []
        for auth in configuration.auth.each {
            guard let url = auth.jwksURL else { continue }
            findings.append(await keys(at: url, authority: auth.jwksAuthority, of: auth.issuer))
        }
        return findings
    }

    /// Whether the app's server answers who may join: it is asked nothing, as a worker would ask.
    func access() async -> [Finding] {
        let settings = configuration.access
        guard let url = settings.url else { return [Finding(.access, .ok, "no server is asked who may join")] }
        do {
            let keys = try settings.secret.map { try WebhookKeys($0, key: "access.secret_file") }
            let answer = try await AccessProvider.post(
                [], with: try AccessProvider.client(settings), keys: keys, at: .hostTime)
            _ = try answer.body.withUnsafeReadableBytes { try AccessAnswers($0, to: []) }
            return [Finding(.access, .ok, "\(url) answers who may join")]
        } catch {
            let reason = (error as? AccessFailure)?.reason ?? (error as? HTTPClient.Failure).map { "\($0)" }
            return [
                Finding(
                    .access, .failure,
                    "\(url) does not answer who may join: \(reason ?? NetworkFailure.sentence(error))",
                    advice: "it must answer {\"questions\":[]} with 200 and {\"answers\":[]}; until it does, joins wait"
                )
            ]
        }
    }

    private func keys(at url: String, authority: String?, of issuer: String?) async -> Finding {
        let name = configuration.auth.issuers.isEmpty ? "auth.jwks_url" : "the jwks_url of \(issuer ?? "")"
        do {
            let read = try KeySource.jwksURL.keys(
                in: try await KeySetFetch(url: url, authority: authority).contents())
            var keys = VerificationKeys()
            keys.replace(.jwksURL, with: read.keys)
            let found = "\(name) has \(read.keys.count) usable key\(read.keys.count == 1 ? "" : "s"): \(keys.names)"
            guard let first = read.skipped.first else { return Finding(.authentication, .ok, found) }
            return Finding(
                .authentication, .warning, "\(found); and \(read.skipped.count) that cannot be used: \(first)",
                advice: "ask who runs the issuer")
        } catch {
            return Finding(
                .authentication, .failure,
                "\(name) gives no keys: \((error as? UnusableFile)?.reason ?? NetworkFailure.sentence(error))",
                advice:
                    "can this host reach it, without a proxy, and trust its certificate? Without keys nobody is welcome"
            )
        }
    }

    /// The certificates of the ports: their ends, and whether clients can verify them.
    var certificates: [Finding] {
        let ports: [CertificateFiles.Port] = [.edge, .admin]
        let found: [Finding] = ports.compactMap { port in
            guard let files = configuration.certificateFiles(port), !wrong.contains(port.certificate),
                let certificate = try? CertificateKeeper(
                    files, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() }
                ).value
            else { return nil }
            let advice = "renew \(files.certificate); a worker reads the new file within seconds"
            switch certificate.age {
            case .expired:
                return Finding(
                    .certificates, .failure, "\(port.certificate) has expired at \(certificate.end)", advice: advice)
            case .ending:
                return Finding(
                    .certificates, .warning, "\(port.certificate) expires at \(certificate.end)", advice: advice)
            case .good where certificate.isAlone:
                return Finding(
                    .certificates, .warning,
                    "\(port.certificate) is one certificate, issued by another: clients that do not know what is between it and "
                        + "a root refuse it",
                    advice: "append the intermediate certificates (fullchain.pem), unless the root itself has issued it"
                )
            case .good:
                return Finding(.certificates, .ok, "\(port.certificate) is valid until \(certificate.end)")
            }
        }
        return found.isEmpty ? [Finding(.certificates, .ok, "no port has one")] : found
    }

    /// Secrets that others can read, or that a person typed or copied from an example.
    var files: [Finding] {
        let (redis, auth, admin) = (configuration.redis, configuration.auth, configuration.admin)
        let named: [(key: String, path: String?)] =
            [
                ("redis.password_file", redis.passwordFile), ("redis.private_key", redis.privateKey),
                ("redis.sentinel_password_file", redis.sentinelPasswordFile),
                ("edge.private_key", configuration.edge.privateKey), ("admin.private_key", admin.privateKey),
                ("auth.secret_file", auth.secretFile), ("auth.previous_secret_file", auth.previousSecretFile),
                ("events.webhook.secret_file", configuration.events.webhook.secretFile),
                ("access.secret_file", configuration.access.secretFile),
                ("config", redis.deployment?.password == nil || wrong.contains("redis.url") ? nil : file),
            ] + AdminRole.allCases.map { ($0.key, admin.path($0)) }
        let secrets = named.compactMap { key, path in path.map { (key: key, path: $0, mode: Self.mode(of: $0)) } }
        let open = secrets.filter { $0.mode & 0o007 != 0 }
        let guessable =
            ([("auth.secret_file", auth.secret, 16), ("auth.previous_secret_file", auth.previousSecret, 16)]
            + AdminRole.allCases.map { ($0.key, admin.contents($0), 8) })
            .filter { key, secret, distinct in
                !wrong.contains(key) && secret.map { !$0.bytes.isEmpty && $0.isGuessable(below: distinct) } ?? false
            }
        let found =
            (open.isEmpty
                ? []
                : [
                    Finding(
                        .files, .warning,
                        "every user of this machine can read "
                            + open.map { "\($0.key) \($0.path) (\(String($0.mode, radix: 8)))" }.joined(separator: ", "),
                        advice: "chmod o= " + open.map(\.path).joined(separator: " "))
                ])
            + guessable.map { key, _, _ in
                Finding(
                    .files, .warning,
                    "the secret in \(key) can be guessed: it repeats itself, has few different bytes, or a common word",
                    advice: "generate another: umask 077; openssl rand -hex 32 > FILE")
            }
        guard found.isEmpty else { return found }
        let count = secrets.count
        return [
            Finding(
                .files, .ok,
                count == 0 ? "no file with a secret" : "\(count) with secrets, none readable by every user")
        ]
    }

    /// The rights on a file; those of other users only if they may enter its folder. Docker's secrets are mounted into one
    /// container, which has no other users.
    private static func mode(of path: String) -> Int {
        guard !path.hasPrefix("/run/secrets/") else { return 0 }
        let place = URL(filePath: path).resolvingSymlinksInPath()
        func rights(_ place: URL) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: place.path))?[.posixPermissions] as? Int ?? 0
        }
        return rights(place) & (rights(place.deletingLastPathComponent()) & 1 == 0 ? 0o770 : 0o777)
    }

    /// Fewer sessions than this suggest the limit of a shell, not of a server.
    private static let fewSessions = 4_096

    var openFiles: Finding {
        let (soft, reachable) = (Int(clamping: OpenFileLimit.current.rlim_cur), OpenFileLimit.reachable)
        let most = OpenFileLimit.sessions(files: reachable)
        let found =
            "\(reachable) (\(soft) now; a worker raises that), enough for \(most) sessions; "
            + "limits.sessions is \(configuration.limits.sessions)"
        guard most < Self.fewSessions else { return Finding(.openFiles, .ok, found) }
        return Finding(
            .openFiles, .warning, found, advice: "raise the hard limit (ulimit -Hn, LimitNOFILE in the unit)")
    }

    /// Listens on each port for a moment. A client that connects at that moment gets no response.
    func ports() async -> [Finding] {
        var findings: [Finding] = []
        for (name, host, port) in [
            ("edge", configuration.edge.host, configuration.edge.port),
            ("admin", configuration.admin.host, configuration.admin.port),
        ] where port != 0 && wrong.isDisjoint(with: ["\(name).host", "\(name).port"]) {
            let place = "\(name) \(host):\(port)"
            switch await Self.refusal(host, port) {
            case nil: findings.append(Finding(.ports, .ok, "\(place) is free"))
            case .portTaken where await isWorkerHere():
                findings.append(Finding(.ports, .ok, "\(place) is taken, and a worker answers on the admin port"))
            case .portTaken:
                findings.append(
                    Finding(
                        .ports, .warning, "\(place) is taken",
                        advice: "unless a worker with this configuration already runs, choose another port (0: a free "
                            + "one)"))
            case .notPermitted:
                findings.append(
                    Finding(
                        .ports, .failure, "\(place) needs a privilege, because it is below 1024",
                        advice: "choose another, or give the worker CAP_NET_BIND_SERVICE"))
            case .noSuchAddress:
                findings.append(
                    Finding(
                        .ports, .failure, "\(place): this machine has no such address",
                        advice: "set \(name).host to an address of this machine, 127.0.0.1 or 0.0.0.0"))
            case .cannotListen:
                findings.append(
                    Finding(.ports, .failure, "cannot listen on \(place)", advice: "set \(name).host and .port"))
            }
        }
        return findings
    }

    private static func refusal(_ host: String, _ port: Int) async -> ListenError.Code? {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try? await channel.close()
            return nil
        } catch {
            return ListenError(.edge, host: host, port: port, cause: error).code
        }
    }

    /// Whether a worker uses the configured admin port, by its public live page. No token is sent, since another program
    /// may listen there; so the server's certificate is not verified.
    private func isWorkerHere() async -> Bool {
        let admin = configuration.admin
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][admin.host] ?? admin.host
        let scheme = admin.certificate == nil ? "http" : "https"
        guard let address = HTTPAddress("\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(admin.port)") else {
            return false
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        var client = HTTPClient(address, tls: address.isSecure ? try? NIOSSLContext(configuration: tls) : nil)
        (client.deadline, client.mostBytes) = (.seconds(1), 1 << 16)
        guard let answer = try? await client.send(.GET, "/live"), answer.status == .ok else { return false }
        return String(buffer: answer.body).contains("<title>Rollcall, live</title>")
    }
}
