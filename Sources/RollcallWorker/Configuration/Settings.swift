// The table of all keys, in the order of the configuration file. `WorkerConfiguration` has the defaults.

import Logging
import NIOCore
import RollcallProtocol
import RollcallRedis
import RollcallServer

extension WorkerConfiguration {
    static let settings: [Setting] =
        redisSettings + workerSettings + edgeSettings + adminSettings + authSettings + presenceSettings
        + typingSettings + eventsSettings + limitsSettings + logSettings

    private static let redisSettings: [Setting] = [
        .text(
            "redis.url", \.redis.url, RedisDeployment.forms, shown: withoutPassword, where: { !$0.isEmpty }),
        .text(
            "redis.prefix", \.redis.prefix,
            "at most 64 bytes without white space, control characters, { and }",
            where: { $0.utf8.count <= 64 && !$0.unicodeScalars.contains { $0.isBlank || $0 == "{" || $0 == "}" } }),
        .optional("redis.password_file", \.redis.passwordFile, aFile),
        .optional("redis.authority", \.redis.authority, aFile),
        .optional("redis.certificate", \.redis.certificate, aFile),
        .optional("redis.private_key", \.redis.privateKey, aFile),
        .optional("redis.server_name", \.redis.serverName, "the name of a host, and not an address", where: isName),
        .optional(
            "redis.sentinel_user", \.redis.sentinelUser, "the name of a user, without white space",
            where: { !$0.unicodeScalars.contains(where: \.isBlank) }),
        .optional("redis.sentinel_password_file", \.redis.sentinelPasswordFile, aFile),
        .duration("redis.connect_timeout", \.redis.connectTimeout, in: .milliseconds(10)...(.seconds(300))),
    ]

    private static let workerSettings: [Setting] = [
        .text(
            "worker.id", \.worker.id, automatic: "",
            "1 to \(Worker.longestID) of the characters A-Z, a-z, 0-9, _ and -",
            where: { (1...Worker.longestID).contains($0.utf8.count) && $0.allSatisfy(Worker.isAllowedInID) }),
        .duration("worker.heartbeat", \.worker.heartbeat, in: .milliseconds(50)...(.seconds(60))),
        .duration("worker.lease", \.worker.lease, in: .seconds(1)...(.seconds(600))),
        .duration("worker.drain", \.worker.drain, in: .zero...(.seconds(600))),
        .duration("worker.drain_delay", \.worker.drainDelay, in: .zero...(.seconds(600))),
        .number("worker.loops", \.worker.loops, automatic: "0", in: 1...256),
    ]

    private static let edgeSettings: [Setting] = [
        .text("edge.host", \.edge.host, aHost, where: isHost),
        .number("edge.port", \.edge.port, in: 0...65_535),
        .optional(
            "edge.public_url", \.edge.publicURL, "a WebSocket address such as wss://chat.example.org/v1/connect",
            where: { isURL($0, schemes: ["ws", "wss"]) }),
        .list(
            "edge.peers", \.edge.peers, "hosts separated by commas, such as w2.example.org, *.example.org or 10.0.0.5",
            where: PeerPolicy.isPattern),
        .duration("edge.ping", \.edge.ping, in: .milliseconds(100)...(.seconds(600))),
        .optional("edge.reconnect", \.edge.reconnect, in: .milliseconds(250)...(.seconds(30))),
        .optional("edge.certificate", \.edge.certificate, aFile),
        .optional("edge.private_key", \.edge.privateKey, aFile),
        .list("edge.origins", \.edge.origins, "origins separated by commas", where: { !$0.isEmpty }),
        .list(
            "edge.trusted_proxies", \.edge.trustedProxies,
            "addresses and networks separated by commas, such as 10.0.0.5, 10.0.0.0/8 or fd00::/8",
            where: TrustedProxies.isNetwork),
    ]

    private static let adminSettings: [Setting] = [
        .text("admin.host", \.admin.host, aHost, where: isHost),
        .number("admin.port", \.admin.port, in: 0...65_535),
        .optional("admin.token_file", \.admin.tokenFile, aFile),
        .optional("admin.app_token_file", \.admin.appTokenFile, aFile),
        .optional("admin.read_token_file", \.admin.readTokenFile, aFile),
        .optional("admin.metrics_token_file", \.admin.metricsTokenFile, aFile),
        .optional("admin.certificate", \.admin.certificate, aFile),
        .optional("admin.private_key", \.admin.privateKey, aFile),
        .optional("admin.client_authority", \.admin.clientAuthority, aFile),
    ]

    private static let authSettings: [Setting] = [
        .choice("auth.mode", \.auth.mode),
        .optional("auth.secret_file", \.auth.secretFile, aFile),
        .optional("auth.previous_secret_file", \.auth.previousSecretFile, aFile),
        .optional("auth.jwks_file", \.auth.jwksFile, aFile),
        .optional(
            "auth.jwks_url", \.auth.jwksURL,
            "an address such as https://id.example.org/keys; http only with a host of this machine",
            shown: withoutUser, where: isServerURL),
        .optional("auth.jwks_authority", \.auth.jwksAuthority, aFile),
        .optional("auth.issuer", \.auth.issuer, "what the claim iss of a token must be"),
        .optional("auth.audience", \.auth.audience, "what the claim aud of a token must contain"),
        .text(
            "auth.user_claim", \.auth.userClaim, "the claim with the user's identifier, such as sub",
            where: { !$0.isEmpty }),
        .optional("auth.name_claim", \.auth.nameClaim, "the claim with the user's name, such as name"),
        .duration("auth.leeway", \.auth.leeway, in: .zero...(.seconds(300))),
        .optional("auth.max_lifetime", \.auth.maxLifetime, in: .seconds(60)...(.seconds(3650 * 86_400))),
        .issuers("auth.issuers"),
    ]

    private static let presenceSettings: [Setting] = [
        .duration("presence.grace", \.presence.grace, in: .zero...(.seconds(3600))),
        // The delay may occur twice, at the device's worker and at the observer's, and changes must be visible within 2
        // s.
        .duration("presence.coalesce", \.presence.coalesce, in: .zero...(.milliseconds(750))),
        .duration("presence.retention", \.presence.retention, in: .seconds(60)...(.seconds(3650 * 86_400))),
    ]

    private static let typingSettings: [Setting] = [
        // Clients drop typing users that are not repeated within the expiry plus 2 s, and always within 10 s.
        .duration("typing.expiry", \.typing.expiry, in: .seconds(1)...(.seconds(8))),
        .duration("typing.throttle", \.typing.throttle, in: .zero...(.seconds(7))),
        .duration("typing.coalesce", \.typing.coalesce, in: .zero...(.seconds(2))),
        .number("typing.names", \.typing.names, in: 0...100),
        .number("here.names", \.here.names, in: 1...500),
        .optionalChoice("conversations.default", \.conversations.default),
        .choice("person.self", \.person.own),
        .optionalChoice("access.watch", \.access.watch),
        .number("access.shared_members", \.access.sharedMembers, in: 1...1000),
        .optional(
            "access.url", \.access.url,
            "an address such as https://api.example.org/access; http only with a host of this machine",
            shown: withoutUser, where: isServerURL),
        .optional("access.secret_file", \.access.secretFile, aFile),
        .duration("access.timeout", \.access.timeout, in: .milliseconds(100)...(.seconds(10))),
        .optional("access.authority", \.access.authority, aFile),
    ]

    private static let eventsSettings: [Setting] = [
        .flag("events.enabled", \.events.enabled),
        .number("events.keep", \.events.keep, in: 1000...10_000_000),
        .optional(
            "events.webhook.url", \.events.webhook.url,
            "an address such as https://api.example.org/rollcall; http only with a host of this machine",
            shown: withoutUser, where: isServerURL),
        .optional("events.webhook.secret_file", \.events.webhook.secretFile, aFile),
        .duration("events.webhook.timeout", \.events.webhook.timeout, in: .seconds(1)...(.seconds(60))),
        .optional("events.webhook.authority", \.events.webhook.authority, aFile),
    ]

    private static let limitsSettings: [Setting] = [
        .number("limits.sessions", \.limits.sessions, automatic: "0", in: 1...OpenFileLimit.mostSessions),
        .number("limits.sessions_per_user", \.limits.sessionsPerUser, in: 1...1000),
        .number("limits.watched_users", \.limits.watchedUsers, in: 1...100_000),
        .number("limits.joined_conversations", \.limits.joinedConversations, in: 1...100_000),
        .number("limits.entered_conversations", \.limits.enteredConversations, in: 1...1000),
        .number("limits.here_data", \.limits.hereData, in: 0...4096),
        .number("limits.message_bytes", \.limits.messageBytes, in: 1024...16_777_216),
        .number("limits.message_rate", \.limits.messageRate, in: 1...100_000),
        .number("limits.message_burst", \.limits.messageBurst, in: 1...1_000_000),
        .number("limits.outbound_bytes", \.limits.outboundBytes, in: 4096...1_073_741_824),
        .duration("limits.slow_for", \.limits.slowFor, in: .milliseconds(100)...(.seconds(600))),
        .duration("limits.hello", \.limits.hello, in: .milliseconds(100)...(.seconds(300))),
        .number("limits.connections_per_address", \.limits.connectionsPerAddress, in: 0...1_000_000),
    ]

    private static let logSettings: [Setting] = [
        .choice("log.level", \.log.level),
        .choice("log.format", \.log.format),
    ]

    private static let aFile = "the path of a file"
    private static let aHost = "a host name or an IP address"
}

extension WorkerConfiguration {
    private static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".:-_%".contains($0)) }
    }

    private static func isName(_ text: String) -> Bool {
        isHost(text) && !text.contains(":") && (try? SocketAddress(ipAddress: text, port: 0)) == nil
    }

    private static func isURL(_ text: String, schemes: [String]) -> Bool {
        guard let scheme = text.firstRange(of: "://"), schemes.contains(String(text[..<scheme.lowerBound])) else {
            return false
        }
        let rest = text[scheme.upperBound...]
        return rest.first.map { $0 != "/" } ?? false && !rest.unicodeScalars.contains(where: \.isBlank)
    }

    /// What is unencrypted on a network could be read and replaced by an attacker.
    static func isServerURL(_ text: String) -> Bool {
        guard isURL(text, schemes: ["https", "http"]), let start = text.firstRange(of: "://")?.upperBound else {
            return false
        }
        // The path may contain an @, as Google's does.
        let authority = String(text[start...].prefix { !"/?#".contains($0) })
        guard !authority.contains("@"), HTTPAddress(text) != nil else { return false }
        return text.hasPrefix("https://") || Loopback.contains(authority: ByteString(authority))
    }

    /// Returns the URL with the user and the password masked that it should not have.
    private static func withoutUser(_ url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        guard let at = url[start...].prefix(while: { !"/?#".contains($0) }).lastIndex(of: "@") else { return url }
        return url[..<start] + "***" + url[at...]
    }

    /// Whether a `redis.url` contains a password.
    package static func hasPassword(redisURL url: String) -> Bool {
        ((try? RedisDeployment(url: url))?.password ?? "") != ""
    }

    /// Returns the URL with everything before the host masked.
    static func withoutPassword(_ url: String) -> String {
        guard let at = url.lastIndex(of: "@") else { return url }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return start <= at ? url[..<start] + "***" + url[at...] : "***" + url[at...]
    }
}

extension Unicode.Scalar {
    /// Whether the character is white space or a control character.
    fileprivate var isBlank: Bool { properties.isWhitespace || properties.generalCategory == .control }
}
