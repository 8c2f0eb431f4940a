// Rules between values, each with the reason that an operator reads.

package import RollcallRedis
public import RollcallServer

extension WorkerConfiguration {
    /// A condition over several keys. It is skipped if one of them is invalid.
    struct Rule: Sendable {
        let code: ConfigurationProblem.Code
        /// The keys of the rule. A violation is reported under the first.
        let keys: [String]
        /// Returns what is wrong, if anything.
        let breach: @Sendable (WorkerConfiguration) -> String?

        init(
            _ code: ConfigurationProblem.Code, _ keys: String...,
            breach: @escaping @Sendable (WorkerConfiguration) -> String?
        ) {
            self.code = code
            self.keys = keys
            self.breach = breach
        }

        typealias Path = any KeyPath<WorkerConfiguration, String?> & Sendable

        /// A certificate and its private key need each other.
        static func pair(_ section: String, _ certificate: Path, _ privateKey: Path) -> [Rule] {
            let names = ("\(section).certificate", "\(section).private_key")
            return [
                Rule(.missing, names.1, names.0) {
                    $0[keyPath: certificate] != nil && $0[keyPath: privateKey] == nil
                        ? "\(names.0) is set: TLS needs its private key too" : nil
                },
                Rule(.missing, names.0, names.1) {
                    $0[keyPath: privateKey] != nil && $0[keyPath: certificate] == nil
                        ? "\(names.1) is set: TLS needs its certificate too" : nil
                },
            ]
        }
    }

    /// Returns every error for which ``load(file:environment:overrides:)`` would reject this value. File contents are
    /// not checked again.
    public func problems() -> [ConfigurationProblem] {
        problems(besides: [])
    }

    /// - Parameter known: Keys that already have errors and are skipped.
    func problems(besides known: Set<String>) -> [ConfigurationProblem] {
        var wrong = known
        var problems: [ConfigurationProblem] = []
        for setting in Self.settings where !wrong.contains(setting.key) && !setting.isAllowed(self) {
            problems.append(
                ConfigurationProblem(
                    .outOfRange, setting.key, value: setting.show(self), "it must be \(setting.expected)"))
            wrong.insert(setting.key)
        }
        for rule in Self.rules where wrong.isDisjoint(with: rule.keys) {
            guard let message = rule.breach(self), let key = rule.keys.first else { continue }
            let value = Self.settings.first { $0.key == key }?.show(self) ?? ""
            problems.append(ConfigurationProblem(rule.code, key, value: value.isEmpty ? nil : value, message))
        }
        return problems
    }

    private static let rules: [Rule] =
        redisRules + eventRules + timeRules + pairRules + addressRules + tokenRules + authRules + limitRules

    private static let redisRules: [Rule] = [
        Rule(.malformed, "redis.url") { configuration in
            do throws(InvalidRedisURL) {
                _ = try RedisDeployment(url: configuration.redis.url)
                return nil
            } catch {
                return error.description
            }
        },
        Rule(.missing, "redis.prefix", "redis.url") {
            guard $0.redis.prefix.isEmpty, let database = $0.redis.deployment?.database, database != 0 else {
                return nil
            }
            return "redis.url names database \(database): Redis delivers messages regardless of databases, so workers "
                + "in two of them would mix up their users. Set redis.prefix, with another value in each database"
        },
        Rule(.inconsistent, "redis.password_file", "redis.url") {
            guard $0.redis.passwordFile != nil, $0.redis.deployment?.password != nil else { return nil }
            return "redis.url has a password too: remove one of them"
        },
        Rule(.missing, "redis.password_file", "redis.url") {
            guard let user = $0.redis.deployment?.username, $0.redis.deployment?.password == nil,
                $0.redis.passwordFile == nil,
                $0.redis.password == nil
            else { return nil }
            return
                "redis.url names the user \(user) without a password, and Redis would take the connection as that of the user "
                + "default: set the file with the user's password"
        },
        Rule(.missing, "redis.sentinel_password_file", "redis.sentinel_user") {
            $0.redis.sentinelUser != nil && $0.redis.sentinelPasswordFile == nil
                ? "redis.sentinel_user is set: a user needs a password" : nil
        },
        Rule(.inconsistent, "redis.sentinel_password_file", "redis.url") {
            guard $0.redis.sentinelPasswordFile != nil, let kind = $0.redis.deployment?.kind else {
                return nil
            }
            if case .sentinel = kind { return nil }
            return "redis.url does not use sentinels; redis+sentinel:// does"
        },
        onlyUnderTLS("redis.authority", \.redis.authority), onlyUnderTLS("redis.certificate", \.redis.certificate),
        onlyUnderTLS("redis.server_name", \.redis.serverName),
    ]

    private static let eventRules: [Rule] =
        [
            Rule(.inconsistent, "events.enabled", "redis.url") {
                $0.events.enabled && $0.redis.deployment?.isCluster == true
                    ? "events are not there yet for a Redis Cluster: use one server or Sentinel, or leave them off"
                    : nil
            },
            Rule(.inconsistent, "events.webhook.url", "events.enabled") {
                $0.events.webhook.url != nil && !$0.events.enabled
                    ? "events.enabled is false: there is nothing to deliver" : nil
            },
            Rule(.inconsistent, "conversations.default", "access.url") {
                $0.access.url != nil && $0.conversations.default == .open
                    ? "access.url is set: its server decides who may join, and would never be asked" : nil
            },
        ]
        + signed("events.webhook", { ($0.events.webhook.url, $0.events.webhook.secretFile, $0.events.webhook.secret) })
        + signed("access", { ($0.access.url, $0.access.secretFile, $0.access.secret) })

    /// The rules of requests to an app's server, which a secret signs.
    private static func signed(
        _ section: String,
        _ settings: @escaping @Sendable (WorkerConfiguration) -> (url: String?, file: String?, secret: Secret?)
    ) -> [Rule] {
        let key = "\(section).secret_file"
        return [
            Rule(.missing, key, "\(section).url") {
                let (url, file, secret) = settings($0)
                guard url != nil, file == nil, secret == nil else { return nil }
                return "\(section).url is set: name a file with the secret that signs requests (\(WebhookKeys.recipe))"
            },
            Rule(.malformed, key) {
                do throws(UnusableFile) {
                    _ = try settings($0).secret.map { secret throws(UnusableFile) in try WebhookKeys(secret, key: key) }
                    return nil
                } catch {
                    return error.reason
                }
            },
        ]
    }

    /// If TLS is prepared but not requested, the worker reports that before it sends anything unencrypted.
    private static func onlyUnderTLS(
        _ key: String, _ path: any KeyPath<WorkerConfiguration, String?> & Sendable
    ) -> Rule {
        Rule(.inconsistent, key, "redis.url") {
            guard $0[keyPath: path] != nil, $0.redis.deployment?.isEncrypted == false else { return nil }
            return "redis.url does not use TLS; rediss:// does"
        }
    }

    private static let pairRules: [Rule] =
        Rule.pair("redis", \.redis.certificate, \.redis.privateKey)
        + Rule.pair("edge", \.edge.certificate, \.edge.privateKey)
        + Rule.pair("admin", \.admin.certificate, \.admin.privateKey)

    private static let timeRules: [Rule] = [
        Rule(.inconsistent, "worker.lease", "worker.heartbeat") {
            guard $0.worker.lease < $0.worker.heartbeat * 3 else { return nil }
            return "it must be at least three heartbeats, \(DurationText.text($0.worker.heartbeat * 3)), "
                + "so that one late heartbeat does not expire the lease"
        },
        Rule(.inconsistent, "worker.drain", "presence.grace") {
            let most = max(.zero, $0.presence.grace - .seconds(1))
            guard $0.worker.drain > most else { return nil }
            return "it must be at most \(DurationText.text(most)), presence.grace minus 1s, so that users do not "
                + "appear offline while they move to another worker"
        },
        Rule(.inconsistent, "presence.retention", "presence.grace") {
            $0.presence.retention <= $0.presence.grace ? "it must be longer than presence.grace" : nil
        },
        Rule(.inconsistent, "typing.throttle", "typing.expiry") {
            let most = $0.typing.expiry - .seconds(1)
            guard $0.typing.throttle > most else { return nil }
            return "it must be at most \(DurationText.text(most)), typing.expiry minus 1s, so that a renewal arrives "
                + "before typing expires; or 0 for no throttling"
        },
    ]

    private static let addressRules: [Rule] = [
        Rule(.malformed, "edge.origins") {
            for origin in $0.edge.origins where origin != "*" {
                do throws(InvalidOrigin) {
                    _ = try OriginPattern(origin)
                } catch {
                    return "\(origin) is no origin of a page: \(error)"
                }
            }
            return nil
        },
        Rule(.inconsistent, "admin.port", "edge.port", "admin.host", "edge.host") {
            guard $0.admin.port == $0.edge.port, $0.admin.host == $0.edge.host, $0.admin.port != 0 else { return nil }
            return "edge.port is the same: each needs its own port"
        },
        Rule(.missing, "admin.certificate", "admin.client_authority") {
            $0.admin.clientAuthority != nil && $0.admin.certificate == nil
                ? "admin.client_authority is set: client certificates need TLS, which needs a certificate and a "
                    + "private key" : nil
        },
        Rule(.missing, "admin.token_file", "admin.host") {
            guard !Loopback.contains($0.admin.host), $0.admin.tokenFile == nil, $0.admin.token == nil else {
                return nil
            }
            return "admin.host \($0.admin.host) can be reached from other machines: name a file with a token that "
                + "callers must send (umask 077; openssl rand -hex 32 > admin.token), or keep admin.host on 127.0.0.1"
        },
        Rule(
            .missing, "admin.token_file", "admin.app_token_file", "admin.read_token_file", "admin.metrics_token_file"
        ) { configuration in
            let admin = configuration.admin
            guard AdminRole.allCases.contains(where: { $0 != .operator && admin.path($0) != nil }),
                admin.tokenFile == nil, admin.token == nil
            else { return nil }
            return "there is a token with fewer rights, but none with all rights: name a file with one "
                + "(umask 077; openssl rand -hex 32 > admin.token)"
        },
        Rule(
            .inconsistent, "admin.token_file", "admin.app_token_file", "admin.read_token_file",
            "admin.metrics_token_file"
        ) {
            AdminTokens.areShared(AdminTokens.tokens(of: $0.admin))
                ? "two of admin.token_file, admin.app_token_file, admin.read_token_file and admin.metrics_token_file have "
                    + "the same token" : nil
        },
    ]

    private static let tokenRules: [Rule] = AdminRole.allCases.map { role in
        Rule(.malformed, role.key) { $0.admin.contents(role).flatMap(AdminTokens.problem) }
    }

    private static let authRules: [Rule] = [
        Rule(.inconsistent, "auth.mode", "edge.host") {
            guard $0.auth.mode == .insecure, !Loopback.contains($0.edge.host) else { return nil }
            return "anyone who can reach edge.host \($0.edge.host) could be any user: insecure is for 127.0.0.1 only; "
                + "use jwt, with auth.secret_file or auth.jwks_file"
        },
        Rule(.inconsistent, "auth.issuers") { $0.auth.problemOfIssuers },
        Rule(.missing, "auth.secret_file", "auth.mode", "auth.jwks_file", "auth.jwks_url") {
            let auth = $0.auth
            guard auth.mode == .jwt, auth.issuers.isEmpty, auth.secretFile == nil, auth.jwksFile == nil,
                auth.secret == nil,
                auth.jwks == nil, auth.jwksURL == nil
            else { return nil }
            return "tokens cannot be checked without a key. Name a file with a secret of at least "
                + "\(Auth.shortestSecret) bytes (umask 077; openssl rand -base64 48 > secret.key; then auth.secret_file or "
                + "ROLLCALL_AUTH_SECRET_FILE is secret.key), or public keys in auth.jwks_file or at auth.jwks_url. For "
                + "trials on this machine only, auth.mode can be insecure"
        },
        Rule(.malformed, "auth.previous_secret_file") {
            guard let secret = $0.auth.previousSecret, (1..<Auth.shortestSecret).contains(secret.bytes.count) else {
                return nil
            }
            return "the secret has \(secret.bytes.count) bytes without the white space around it: it needs at least "
                + "\(Auth.shortestSecret), or none at all where there is no previous secret"
        },
        Rule(.malformed, "auth.secret_file") {
            guard let secret = $0.auth.secret, secret.bytes.count < Auth.shortestSecret else { return nil }
            return "the secret has \(secret.bytes.count) bytes without the white space around it: HS256 needs at "
                + "least \(Auth.shortestSecret) (umask 077; openssl rand -base64 48 > secret.key)"
        },
    ]

    private static let limitRules: [Rule] = [
        Rule(.inconsistent, "limits.sessions") {
            guard $0.limits.sessions > OpenFileLimit.sessions else { return nil }
            return "this process may have \(OpenFileLimit.reachable) files open, enough for "
                + "\(OpenFileLimit.sessions) sessions: raise the limit (ulimit -Hn, LimitNOFILE) or leave it at 0"
        }
    ]
}

extension WorkerConfiguration.Auth {
    /// The output length of HMAC-SHA-256, as RFC 7518 §3.2 requires.
    static let shortestSecret = 32
}

extension WorkerConfiguration.Redis {
    /// The parsed URL; `nil` if it is invalid.
    package var deployment: RedisDeployment? { try? RedisDeployment(url: url) }
}
