// A worker's complete configuration as one value with defaults. Names are those of the configuration file in camel
// case: `redis.connect_timeout` is `redis.connectTimeout`. Loading and validation are in the other files of this
// folder.

public import Logging
public import RollcallProtocol

/// The configuration of one worker. A new value has the defaults.
///
/// A value built in code is not validated; ``problems()`` returns what ``load(file:environment:overrides:)`` would
/// reject.
public struct WorkerConfiguration: Sendable {
    public var redis = Redis()
    public var worker = Worker()
    public var edge = Edge()
    public var admin = Admin()
    public var auth = Auth()
    public var presence = Presence()
    public var typing = Typing()
    public var here = Here()
    public var conversations = Conversations()
    public var access = Access()
    public var person = Person()
    public var events = Events()
    public var limits = Limits()
    public var log = Log()

    public init() {}

    public struct Redis: Sendable {
        /// The address of Redis: `redis://[user[:password]@]host[:port][/db]`, `redis+unix:///path`, or
        /// `redis+sentinel://[user[:password]@]host[:port],host[:port]…/name[/db]`; `rediss` for TLS.
        public var url = "redis://127.0.0.1:6379"
        /// The prefix of every key and channel.
        public var prefix = ""
        /// A file with the password, instead of a password in the URL. Read again for each connection.
        public var passwordFile: String?
        /// A file with CA certificates (PEM) for Redis under TLS, instead of the system's.
        public var authority: String?
        /// The client certificate chain (PEM) for Redis under TLS; requires ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// The name that Redis's certificate must have, if it differs from the host.
        public var serverName: String?
        /// The user name for sentinels, which have their own users.
        public var sentinelUser: String?
        /// A file with the password for sentinels.
        public var sentinelPasswordFile: String?
        /// The time limit for a connection; at startup, how long the worker waits for Redis.
        public var connectTimeout = Duration.seconds(5)
        /// The contents of ``passwordFile`` when the configuration was loaded.
        public var password: Secret?
    }

    public struct Worker: Sendable {
        /// The worker's name, of `[A-Za-z0-9_-]`. Each incarnation adds a random part.
        public var id = generatedID()
        public var heartbeat = Duration.seconds(1)
        /// How long a worker counts as alive after a heartbeat.
        public var lease = Duration.seconds(5)
        /// How long a graceful shutdown takes to spread its devices over other workers.
        public var drain = Duration.seconds(4)
        /// How long before that a worker that stops is not ready and serves on: for load balancers that take a while to forget it.
        public var drainDelay = Duration.zero
        /// Event loops: by default the processors that this process may use, at most ``mostLoopsByDefault``.
        public var loops = OpenFileLimit.loops
        /// More need more connections to Redis than they are worth, where processors are those of a large host.
        public static let mostLoopsByDefault = 16
    }

    public struct Edge: Sendable {
        public var host = "127.0.0.1"
        /// 0 picks a free port.
        public var port = 8080
        /// The public address of this worker, if it differs from the one that it listens on.
        public var publicURL: String?
        /// Hosts of other workers to which devices may be sent; if empty, hosts near this one (``PeerPolicy``).
        public var peers: [String] = []
        /// The ping interval. A connection is dead after two missed pings.
        public var ping = Duration.seconds(10)
        /// Up to how long clients that lost their connection wait at random before they reconnect, at first. `nil`:
        /// 1.5 s, or less where presence would not last as long.
        public var reconnect: Duration?
        /// The certificate chain (PEM) for TLS on this port; requires ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// The origins whose web pages may connect, or `*`. If empty, pages from the edge's own host; on loopback,
        /// pages from this machine.
        public var origins: [String] = []
        /// Addresses and networks of proxies whose `X-Forwarded-For` is trusted.
        public var trustedProxies: [String] = []
    }

    public struct Admin: Sendable {
        public var host = "127.0.0.1"
        /// 0 picks a free port.
        public var port = 8081
        /// A file with the token that permits everything; required unless the port is on loopback. A second line may
        /// hold the previous token, which stays valid.
        public var tokenFile: String?
        /// The same for an app's own servers: events, whether to push, members and typing, and everything below.
        public var appTokenFile: String?
        /// The same for callers that may do everything that changes nothing and is for people.
        public var readTokenFile: String?
        /// The same for callers that may only read metrics.
        public var metricsTokenFile: String?
        /// The certificate chain (PEM) for TLS on this port; requires ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// A file with CA certificates (PEM) for client certificates, which callers must then present under TLS besides
        /// a token.
        public var clientAuthority: String?
        /// The contents of ``tokenFile`` when the configuration was loaded.
        public var token: Secret?
        /// The contents of ``appTokenFile`` when the configuration was loaded.
        public var appToken: Secret?
        /// The contents of ``readTokenFile`` when the configuration was loaded.
        public var readToken: Secret?
        /// The contents of ``metricsTokenFile`` when the configuration was loaded.
        public var metricsToken: Secret?
    }

    public struct Auth: Sendable {
        public enum Mode: String, Sendable, CaseIterable {
            /// Tokens are signed JSON Web Tokens.
            case jwt
            /// The token is the user's name, without proof: for trials on your own machine.
            case insecure
        }

        public var mode = Mode.jwt
        /// A file with the secret of HS256 tokens: at least 32 bytes without surrounding white space.
        public var secretFile: String?
        /// A file with the previous secret, whose tokens stay valid; empty if there is none.
        public var previousSecretFile: String?
        /// A file with a JSON Web Key Set: public keys for RS256, PS256, ES256, ES384 and EdDSA.
        public var jwksFile: String?
        /// The URL of such a set: `https`, or `http` on this machine.
        public var jwksURL: String?
        /// A file with CA certificates (PEM) for that URL's server, in addition to the system's.
        public var jwksAuthority: String?
        /// The required claim `iss`, if any.
        public var issuer: String?
        /// The required entry of the claim `aud`, if any.
        public var audience: String?
        /// The tolerated clock difference to the issuer: tokens are valid this much earlier and longer.
        public var leeway = Duration.seconds(30)
        /// The maximum time between a token's `iat` and its `exp`. `nil` means `presence.retention` for a worker, since
        /// revocations are kept that long, and no maximum for a separate ``Authenticator``.
        public var maxLifetime: Duration?
        /// The claim that says which user the token is for, or a path of objects with dots. It must not be one that users can change.
        public var userClaim = "sub"
        /// The claim with the user's name for people, or a path of objects with dots (`user_metadata.full_name`); `nil` for none.
        public var nameClaim: String? = "name"
        /// Several sign-ins, each with its own ``issuer``, ``audience``, keys and claims: then those beside it are not used. A token's
        /// `iss` picks one.
        public var issuers: [Auth] = []
        /// Of one of several: what each of its users' names begins with, so that no two issuers have the same user.
        public var prefix: String?
        /// Of one of several: the only algorithms that it signs with, such as `RS256`; empty for all for which there are keys.
        public var algorithms: [String] = []
        /// The contents of ``secretFile`` when the configuration was loaded.
        public var secret: Secret?
        /// The contents of ``previousSecretFile`` when the configuration was loaded.
        public var previousSecret: Secret?
        /// The contents of ``jwksFile`` when the configuration was loaded.
        public var jwks: String?

        /// The issuers, each with what concerns it: one, unless there are several.
        package var each: [Auth] { issuers.isEmpty ? [self] : issuers }
    }

    public struct Presence: Sendable {
        /// How long a device still counts after its connection was lost.
        public var grace = Duration.seconds(5)
        /// The minimum time between two visible changes of a user, and between two writes of a device's state; 0 for no
        /// minimum.
        public var coalesce = Duration.milliseconds(500)
        /// How long an offline user's record is kept.
        public var retention = Duration.seconds(30 * 86_400)
    }

    public struct Typing: Sendable {
        /// How long a typing signal lasts.
        public var expiry = Duration.seconds(3)
        /// The minimum time between two signals of a user that are forwarded to Redis; 0 for no minimum.
        public var throttle = Duration.seconds(1)
        /// The minimum time between two typing updates in a room with more than ``names`` typists; 0 for no minimum.
        public var coalesce = Duration.milliseconds(250)
        /// How many typists a message names.
        public var names = 10
    }

    public struct Here: Sendable {
        /// How many of the users who have a conversation open a message names.
        public var names = 50
    }

    public struct Conversations: Sendable {
        public enum Default: String, Sendable, CaseIterable {
            /// Every authenticated user may join.
            case open
            /// Only sessions whose token's claim `join` opens the conversation may join.
            case closed
        }

        /// The rule for conversations without members, for sessions whose token has no claim `join`. `nil` means
        /// ``Default/closed`` with ``Auth/Mode/jwt``, and otherwise ``Default/open``.
        public var `default`: Default?
    }

    /// Whether conversations without members are open to sessions whose token has no claim `join`. Where an app's server is
    /// asked, it decides.
    package var isOpenByDefault: Bool {
        access.url == nil && (conversations.default ?? (auth.mode == .jwt ? .closed : .open)) == .open
    }

    /// What users decide that others see of them.
    public struct Person: Sendable {
        /// What devices may set of their own user; an app's server may set all.
        public var own = PersonSelf.settings
    }

    /// Who may join conversations without members, and who may ask about whom. An embedded node asks no server.
    public struct Access: Sendable {
        public enum Watch: String, Sendable, CaseIterable {
            /// Every authenticated user may ask about everybody.
            case anyone
            /// Only about those who are in a conversation that the session has joined with presence.
            case shared
        }

        /// About whom a session may ask whose token has no claim `watch`. `nil` means ``Watch/shared`` with ``Auth/Mode/jwt``,
        /// and otherwise ``Watch/anyone``.
        public var watch: Watch?
        /// The longest member list that lets its members ask about one another.
        public var sharedMembers = 100
        /// The app's server that is asked who may join a conversation without members, where no claim `join` opens it: `https`, or
        /// `http` on this machine; `nil` for none.
        public var url: String?
        /// A file with the secret that signs questions, in the form of Standard Webhooks. A second line may hold the previous
        /// secret, which then signs too.
        public var secretFile: String?
        /// A file with CA certificates (PEM) for that URL's server, in place of the system's.
        public var authority: String?
        /// The time limit for one request and its answer.
        public var timeout = Duration.seconds(3)
        /// The contents of ``secretFile`` when the configuration was loaded.
        public var secret: Secret?
    }

    /// About whom sessions may ask whose token has no claim `watch`.
    package var watchByDefault: Access.Watch { access.watch ?? (auth.mode == .jwt ? .shared : .anyone) }

    /// These rules as others compare them: the rule of ``Access/watch``, ``Access/sharedMembers`` and a hash of ``Access/url``.
    package var accessRules: String {
        let url = access.url.map { url in
            " \(String(url.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }, radix: 16))"
        }
        return "\(watchByDefault) \(access.sharedMembers)\(url ?? "")"
    }

    public struct Events: Sendable {
        /// Whether workers append to the stream `events` who came and who went. All workers should say the same.
        public var enabled = false
        /// About how many entries the stream keeps.
        public var keep = 100_000
        public var webhook = Webhook()
    }

    /// Where workers deliver events. An embedded node delivers none.
    public struct Webhook: Sendable {
        /// `https`, or `http` on this machine; `nil` for none.
        public var url: String?
        /// A file with the secret that signs deliveries, in the form of Standard Webhooks. A second line may hold the previous
        /// secret, which then signs too.
        public var secretFile: String?
        /// The time limit for one delivery and its answer.
        public var timeout = Duration.seconds(5)
        /// A file with CA certificates (PEM) for that URL's server, in addition to the system's.
        public var authority: String?
        /// The contents of ``secretFile`` when the configuration was loaded.
        public var secret: Secret?
    }

    public struct Limits: Sendable {
        /// Sessions on this worker.
        public var sessions = OpenFileLimit.sessions
        public var sessionsPerUser = 20
        /// Users that one session may watch.
        public var watchedUsers = 2000
        /// Conversations that one session may join.
        public var joinedConversations = 500
        /// Conversations that one session may have open.
        public var enteredConversations = 10
        /// The most bytes that it may show in each.
        public var hereData = 512
        public var messageBytes = 65_536
        /// Messages per second of one user on an event loop, on average. Beyond them, messages wait.
        public var messageRate = 50
        /// Messages of one user on an event loop in one burst.
        public var messageBurst = 200
        /// How far a session may fall behind: bytes that wait for it, plus bytes withheld because a newer state will
        /// replace them.
        public var outboundBytes = 262_144
        /// How long a session may stay that slow before it is closed.
        public var slowFor = Duration.seconds(10)
        /// The time limit for a connection's hello.
        public var hello = Duration.seconds(20)
        /// Open connections per address; 0 for no limit.
        public var connectionsPerAddress = 0
    }

    public struct Log: Sendable {
        public enum Format: String, Sendable, CaseIterable {
            case text
            case json
        }

        public var level = Logger.Level.info
        public var format = Format.text
    }
}

// MARK: The ID

// Generated worker names. Devices receive the name, so it reveals nothing about the machine. Operators see the host
// beside it in `rollcall workers`.

extension WorkerConfiguration.Worker {
    /// The longest `worker.id`. It is stored in every device's record.
    package static let longestID = 64

    /// Returns a name that no other worker has.
    static func generatedID() -> String {
        "worker-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }

    package static func isAllowedInID(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }
}
