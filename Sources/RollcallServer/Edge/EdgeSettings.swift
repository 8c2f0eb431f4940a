// The edge's settings: those from the worker's configuration, and fixed limits.

import NIOCore

/// The settings of the edge.
package struct EdgeSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 picks a free port.
    var port = 0
    /// The TLS certificate; `nil` without TLS, or if a proxy terminates it.
    package var tls: CertificateKeeper?
    /// Exact values of `Origin` from which browsers may connect, or `*`; see ``OriginPolicy``.
    var origins: [String] = []
    /// Whether tokens are accepted without proof.
    var trustsTokens = false
    /// Proxies whose `X-Forwarded-For` is trusted.
    var trustedProxies: [String] = []
    /// The ping interval. A connection is dead after two missed pings.
    var ping = Duration.seconds(10)
    /// The most WebSockets per address; 0 for no limit.
    var connectionsPerAddress = 0
    /// The most sessions.
    var sessions = Int.max
    /// The longest message from a client.
    var messageBytes = 65_536
    /// How many bytes may wait for one connection or be skipped for it, and for how long, before it is closed as too
    /// slow.
    var outboundBytes = 262_144
    var slowFor = Duration.seconds(10)
    /// The time limit for an HTTP handshake.
    var handshake = Duration.seconds(5)
    /// The most connections per loop that are not sessions: in the handshake, before the answer to hello, or closing.
    var handshakes = mostHandshakes
    /// How long a peer may take to answer a close frame with its own or with the end of its stream, and how long it may
    /// read nothing of the data before it.
    var closing = Duration.seconds(3)
    /// The time limit for both together, however steadily the peer reads.
    var closingAtMost = Duration.seconds(30)

    init() {}

    package init(_ configuration: WorkerConfiguration) {
        host = configuration.edge.host
        port = configuration.edge.port
        origins = configuration.edge.origins
        trustsTokens = configuration.auth.mode == .insecure
        trustedProxies = configuration.edge.trustedProxies
        ping = configuration.edge.ping
        connectionsPerAddress = configuration.limits.connectionsPerAddress
        sessions = configuration.limits.sessions
        messageBytes = configuration.limits.messageBytes
        outboundBytes = configuration.limits.outboundBytes
        slowFor = configuration.limits.slowFor
        handshake = configuration.limits.hello
        handshakes = OpenFileLimit.handshakes(loops: configuration.worker.loops)
    }

    static let mostHandshakes = OpenFileLimit.mostHandshakes

    /// The longest message from a client that is not authenticated yet. A hello with a large token fits.
    ///
    /// Limit: bytes of a message before the token is accepted. A longer one closes the connection with 1009.
    static let helloBytes = 16 * 1024

    /// The maximum total length of an HTTP request head.
    ///
    /// Limit: bytes of a request's head. A longer one gets 431.
    static let headerBytes = 16 * 1024
    /// Limit: fields of a request's head. More get 431.
    static let headerFields = 100

    /// How many unsent bytes the kernel holds for a connection. By default it would hold megabytes, and a peer that
    /// resumes reading would have to read all of them before anything new.
    static let unsentBytes: SocketOptionValue = 16 * 1024

    /// When a connection counts as backed up, and when as drained: well below the limit for slow peers.
    var waterMark: ChannelOptions.Types.WriteBufferWaterMark {
        let high = max(2, min(outboundBytes / 4, 16 * 1024))
        return .init(low: high / 2, high: high)
    }

    /// The most bytes that may wait for a connection besides the largest frame. Pushed updates stay far below; this
    /// limits a peer that sends many requests and does not read the answers.
    var outboundCeiling: Int { min(outboundBytes, Int.max / 4) * 4 }

    /// How many checks of a loop fit in a ping interval: ten per second, for intervals of up to a day.
    var checks: Int { Int(min(864_000, max(1, ping / .milliseconds(100)))) }

    /// The time from one check to the next.
    var checkInterval: TimeAmount { max(.milliseconds(1), TimeAmount(ping / checks)) }
}
