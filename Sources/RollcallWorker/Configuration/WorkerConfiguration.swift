// Everything that an operator may decide about a worker, as one value with its defaults. The names are those of the
// configuration file in camel case: `redis.connect_timeout` is `redis.connectTimeout`. How the value is read and
// checked stands in the files beside this one.

public import Logging

/// The configuration of one worker. A fresh value holds the defaults.
///
/// A value made by hand is as valid as its maker; ``problems()`` says what ``load(file:environment:overrides:)`` would
/// have refused.
public struct WorkerConfiguration: Sendable {
    public var redis = Redis()
    public var worker = Worker()
    public var edge = Edge()
    public var admin = Admin()
    public var auth = Auth()
    public var presence = Presence()
    public var typing = Typing()
    public var conversations = Conversations()
    public var limits = Limits()
    public var log = Log()

    public init() {}

    public struct Redis: Sendable {
        /// Where Redis is: `redis://[user[:password]@]host[:port][/db]`, `redis+unix:///path`, or
        /// `redis+sentinel://[user[:password]@]host[:port],host[:port]…/name[/db]`; `rediss` for TLS.
        public var url = "redis://127.0.0.1:6379"
        /// Stands before every key and channel.
        public var prefix = ""
        /// A file with the password, which then need not stand in the URL; read again for each connection.
        public var passwordFile: String?
        /// A file with the certificates (PEM) of who vouches for Redis under TLS, instead of those whom the system trusts.
        public var authority: String?
        /// The certificate chain (PEM) that is shown to Redis under TLS, together with ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// Whom Redis's certificate must name, if not the host that is connected to.
        public var serverName: String?
        /// Who we are to sentinels, which know no users of Redis's.
        public var sentinelUser: String?
        /// A file with the password for sentinels.
        public var sentinelPasswordFile: String?
        /// How long a connection may take; at the start of a worker, how long Redis may.
        public var connectTimeout = Duration.seconds(5)
        /// What ``passwordFile`` held when the configuration was loaded.
        public var password: Secret?
    }

    public struct Worker: Sendable {
        /// Names the worker, of `[A-Za-z0-9_-]`; every life of its lease gets a random part besides.
        public var id = generatedID()
        public var heartbeat = Duration.seconds(1)
        /// How long a heartbeat keeps the worker alive in the eyes of others.
        public var lease = Duration.seconds(5)
        /// Over how long an orderly stop spreads the return of its devices to other workers.
        public var drain = Duration.seconds(4)
    }

    public struct Edge: Sendable {
        public var host = "127.0.0.1"
        /// 0 picks a free one.
        public var port = 8080
        /// The address that others are told for this worker, if it is not the one it listens on.
        public var publicURL: String?
        /// Hosts of other workers to which devices may be sent; if empty, those near the own one (``PeerPolicy``).
        public var peers: [String] = []
        /// How often a connection is pinged; it is dead after two that were missed.
        public var ping = Duration.seconds(10)
        /// The certificate chain (PEM) with which the edge speaks TLS, together with ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// The origins whose web pages may connect, or `*`; if empty, pages from the edge's own host, and on loopback
        /// those from this machine.
        public var origins: [String] = []
        /// Addresses and networks of the proxies whose `X-Forwarded-For` is believed.
        public var trustedProxies: [String] = []
    }

    public struct Admin: Sendable {
        public var host = "127.0.0.1"
        /// 0 picks a free one.
        public var port = 8081
        /// A file with the bearer token that callers must show to do everything; required when not on loopback. A second
        /// line may hold the token before, which is taken too.
        public var tokenFile: String?
        /// The same for those who may do all that changes nothing.
        public var readTokenFile: String?
        /// The same for those who may have metrics and nothing else.
        public var metricsTokenFile: String?
        /// The certificate chain (PEM) with which the port speaks TLS, together with ``privateKey``.
        public var certificate: String?
        public var privateKey: String?
        /// A file with the certificates (PEM) of who issues those that callers must show under TLS, besides a token.
        public var clientAuthority: String?
        /// What ``tokenFile`` held when the configuration was loaded.
        public var token: Secret?
        /// What ``readTokenFile`` held when the configuration was loaded.
        public var readToken: Secret?
        /// What ``metricsTokenFile`` held when the configuration was loaded.
        public var metricsToken: Secret?
    }

    public struct Auth: Sendable {
        public enum Mode: String, Sendable, CaseIterable {
            /// Tokens are JSON Web Tokens, signed.
            case jwt
            /// The token is the user's name, unproven: for trying things out on one's own machine.
            case insecure
        }

        public var mode = Mode.jwt
        /// A file with the secret of HS256 tokens, at least 32 bytes without the white space around it.
        public var secretFile: String?
        /// A file with the secret before, whose tokens are good too; empty if there is none.
        public var previousSecretFile: String?
        /// A file with a JSON Web Key Set: public keys for RS256, PS256, ES256, ES384 and EdDSA.
        public var jwksFile: String?
        /// Where such a set is fetched: `https`, or `http` from this machine.
        public var jwksURL: String?
        /// A file with the certificates (PEM) of who vouches for the URL's server, beside those whom the system trusts.
        public var jwksAuthority: String?
        /// What the claim `iss` must be, if anything.
        public var issuer: String?
        /// What the claim `aud` must contain, if anything.
        public var audience: String?
        /// How far the issuer's clock and this worker's may be apart: tokens are good so much longer, and sooner.
        public var leeway = Duration.seconds(30)
        /// The most that may lie between a token's `iat` and its `exp`. `nil`: for a worker `presence.retention`, since
        /// revocations are kept so long; for an ``Authenticator`` made by itself, any time.
        public var maxLifetime: Duration?
        /// What ``secretFile`` held when the configuration was loaded.
        public var secret: Secret?
        /// What ``previousSecretFile`` held when the configuration was loaded.
        public var previousSecret: Secret?
        /// What ``jwksFile`` held when the configuration was loaded.
        public var jwks: String?
    }

    public struct Presence: Sendable {
        /// How long a device whose connection was lost still counts.
        public var grace = Duration.seconds(5)
        /// The least time between two changes of a user that are shown, and between two writes of a device's state; 0 for
        /// all of them.
        public var coalesce = Duration.milliseconds(500)
        /// How long an offline user's record is kept.
        public var retention = Duration.seconds(30 * 86_400)
    }

    public struct Typing: Sendable {
        /// How long a signal lasts.
        public var expiry = Duration.seconds(3)
        /// How often, at most, a person's signals go on to Redis; 0 for all of them.
        public var throttle = Duration.seconds(1)
        /// How often, at most, a room with more than ``names`` typists is told of changes; 0 for all of them.
        public var coalesce = Duration.milliseconds(250)
        /// How many typists a message names.
        public var names = 10
    }

    public struct Conversations: Sendable {
        public enum Default: String, Sendable, CaseIterable {
            /// Whoever is signed in may join.
            case open
            /// Nobody may join until members are set.
            case closed
        }

        /// What holds for conversations whose members were never set.
        public var `default` = Default.open
    }

    public struct Limits: Sendable {
        /// Sessions on this worker.
        public var sessions = OpenFileLimit.sessions
        public var sessionsPerUser = 20
        /// Users whose presence one session may watch.
        public var watchedUsers = 2000
        /// Conversations that one session may have joined.
        public var joinedConversations = 500
        public var messageBytes = 65_536
        /// Messages of one session a second, in the long run.
        public var messageRate = 50
        /// Messages of one session at once.
        public var messageBurst = 200
        /// How far behind a session may be: bytes that wait for it, and that it was spared since the newest state is to
        /// take their place.
        public var outboundBytes = 262_144
        /// How long a session may be that slow before it is closed.
        public var slowFor = Duration.seconds(10)
        /// How long a connection may take to say hello.
        public var hello = Duration.seconds(5)
        /// Connections accepted a second; 0 for any number.
        public var connectionRate = 0
        /// Connections of one address at once, and new ones a second; 0 for any number.
        public var connectionsPerAddress = 0
        public var connectionRatePerAddress = 0
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
