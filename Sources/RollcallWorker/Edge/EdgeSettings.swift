// What the edge takes from the worker's configuration, and the bounds that nobody needs to set.

import NIOCore

/// The edge's part of a worker's configuration.
struct EdgeSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 picks a free one.
    var port = 0
    /// With what connections are encrypted; nil where they are not, or by a proxy.
    var tls: CertificateKeeper?
    /// Exact values of `Origin` from which browsers may connect, or `*`; see ``OriginPolicy``.
    var origins: [String] = []
    /// Whether tokens are believed without a proof.
    var trustsTokens = false
    /// Proxies that say in `X-Forwarded-For` whom they speak for.
    var trustedProxies: [String] = []
    /// How often a connection is pinged; it is dead after two that were missed.
    var ping = Duration.seconds(10)
    /// How many connections are accepted a second; nil for as many as come.
    var connectionRate: Int?
    /// How many WebSockets one address may have at once, and how many new ones a second; 0 for any number.
    var connectionsPerAddress = 0
    var connectionRatePerAddress = 0
    /// How many sessions there may be at once.
    var sessions = Int.max
    /// The longest message from a client.
    var messageBytes = 65_536
    /// What may wait for one connection, or have been spared it, for how long, before it is closed as too slow.
    var outboundBytes = 262_144
    var slowFor = Duration.seconds(10)
    /// How long an HTTP handshake may take.
    var handshake = Duration.seconds(5)
    /// How many connections of a loop may be no session: in their handshake, before the answer to their hello, or
    /// closing.
    var handshakes = mostHandshakes
    /// How long a peer has to answer a close frame with its own, or with the end of its stream, and how long without
    /// reading anything of what was sent before it.
    var closing = Duration.seconds(3)
    /// How long a peer has for both together, however steadily it reads.
    var closingAtMost = Duration.seconds(30)

    init() {}

    init(_ configuration: WorkerConfiguration) {
        host = configuration.edge.host
        port = configuration.edge.port
        origins = configuration.edge.origins
        trustsTokens = configuration.auth.mode == .insecure
        trustedProxies = configuration.edge.trustedProxies
        ping = configuration.edge.ping
        connectionRate = configuration.limits.connectionRate == 0 ? nil : configuration.limits.connectionRate
        connectionsPerAddress = configuration.limits.connectionsPerAddress
        connectionRatePerAddress = configuration.limits.connectionRatePerAddress
        sessions = configuration.limits.sessions
        messageBytes = configuration.limits.messageBytes
        outboundBytes = configuration.limits.outboundBytes
        slowFor = configuration.limits.slowFor
        handshake = configuration.limits.hello
        handshakes = OpenFileLimit.handshakes()
    }

    static let mostHandshakes = 4096

    /// The longest message of whoever is not known yet: a hello with a large token fits well.
    static let helloBytes = 16 * 1024

    /// How long an HTTP request's head may be, all in all.
    static let headerBytes = 16 * 1024
    static let headerFields = 100

    /// What the kernel holds for a connection and has not sent. It would take megabytes, all of which a peer that reads
    /// again would have to read before anything new.
    static let unsentBytes: SocketOptionValue = 16 * 1024

    /// How many connections may wait in the kernel to be accepted: few enough that nobody who waits there has given up
    /// when their turn comes. Of whom it has no room for, the kernel wants to hear again in a second.
    var listenBacklog: Int32 { connectionRate.map { Int32(clamping: min(4096, max(16, $0 * 2))) } ?? 4096 }

    /// When a connection counts as backed up, and when it has drained: well below what makes it too slow.
    var waterMark: ChannelOptions.Types.WriteBufferWaterMark {
        let high = max(2, min(outboundBytes / 4, 16 * 1024))
        return .init(low: high / 2, high: high)
    }

    /// What may wait for a connection, whatever it is. A peer that is told things and does not read has much less
    /// waiting; this is for one that asks and asks, and does not read the answers.
    var outboundCeiling: Int { min(outboundBytes, Int.max / 4) * 4 }

    /// How many beats of the sweep a ping period has: ten a second, for periods up to a day.
    var beats: Int { Int(min(864_000, max(1, ping / .milliseconds(100)))) }

    /// How long a beat is.
    var beat: TimeAmount { max(.milliseconds(1), TimeAmount(ping / beats)) }
}
