// All tunnels of a proxy, and the settings for new ones.

internal import NIOCore
internal import NIOPosix

/// The state of a ``Proxy``. Used on one event loop only.
final class Switchboard {
    /// Where new connections go; `nil` refuses them.
    var target: Int?
    private let loop: any EventLoop
    private let tellsTraffic: Bool
    /// The settings for new connections, the most recent last.
    private var forecasts: [(traffic: Traffic, weather: Weather)] = []
    /// The ids of a cluster's nodes, in order.
    var nodes: [String] = []
    private var tunnels: [ObjectIdentifier: Tunnel] = [:]
    /// Everything that clients have sent since recording started.
    private(set) var heard: ByteBuffer?
    private var trap: (marker: ByteBufferView, sprung: () -> Void)?

    init(on loop: any EventLoop, tellsTraffic: Bool) {
        self.loop = loop
        self.tellsTraffic = tellsTraffic
    }

    func accept(_ client: any Channel) throws {
        let tunnel = Tunnel(
            client: client, traffic: tellsTraffic ? nil : .all,
            tell: { [unowned self] in Caller.traffic(of: $0, nodes: nodes) },
            recognised: { [unowned self] in recognised($0) },
            overheard: { [unowned self] in overheard($0, $1) })
        try client.pipeline.syncOperations.addHandler(
            TunnelEnd(incoming: tunnel.up, outgoing: tunnel.down) { [unowned tunnel] in tunnel.clientSent($0) })
        tunnels[ObjectIdentifier(client)] = tunnel
        let bound = NIOLoopBound((board: self, tunnel: tunnel), eventLoop: loop)
        client.closeFuture.whenComplete { _ in bound.value.board.closed(bound.value.tunnel) }
        tunnel.up.comes(from: client)
        connect(tunnel)
    }

    func set(_ weather: Weather, for traffic: Traffic, newcomersToo: Bool) {
        if newcomersToo {
            forecasts.removeAll { traffic.isSuperset(of: $0.traffic) }
            forecasts.append((traffic, weather))
        }
        for tunnel in standing(traffic) { tunnel.weather = weather }
    }

    func cut(_ how: Cut, _ traffic: Traffic) {
        for tunnel in standing(traffic) { tunnel.cut(how) }
    }

    /// Stalls the first connection on which a client sends the marker, starting with the bytes that contain it.
    func setTrap(_ marker: String, sprung: @escaping () -> Void) {
        trap = (ByteBuffer(string: marker).readableBytesView, sprung)
    }

    func listen() {
        heard = heard ?? ByteBuffer()
    }

    func standing(_ traffic: Traffic) -> [Tunnel] {
        tunnels.values.filter { $0.traffic.map { !$0.isDisjoint(with: traffic) } ?? (traffic == .all) }
    }

    private func connect(_ tunnel: Tunnel) {
        guard let target else { return tunnel.cut(.reset) }
        let bound = NIOLoopBound((board: self, tunnel: tunnel), eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tunnel = bound.value.tunnel
                    try channel.pipeline.syncOperations.addHandler(
                        TunnelEnd(incoming: tunnel.down, outgoing: tunnel.up) { tunnel.down.received($0) })
                }
            }
            .connect(host: "127.0.0.1", port: target)
            .whenComplete { result in
                switch result {
                case .success(let server): bound.value.tunnel.connected(to: server)
                case .failure: bound.value.tunnel.cut(.reset)
                }
            }
    }

    private func recognised(_ tunnel: Tunnel) {
        let weather = forecasts.last { !$0.traffic.isDisjoint(with: tunnel.traffic ?? .all) }?.weather ?? .clear
        if weather == .refusing { tunnel.cut(.reset) }
        tunnel.weather = weather
    }

    private func overheard(_ tunnel: Tunnel, _ bytes: ByteBuffer) {
        heard?.writeImmutableBuffer(bytes)
        guard let trap, bytes.readableBytesView.firstRange(of: trap.marker) != nil else { return }
        self.trap = nil
        tunnel.weather = .stalled
        trap.sprung()
    }

    /// Handles a closed client connection. The tunnel stays until what the client sent has been forwarded.
    private func closed(_ tunnel: Tunnel) {
        guard let server = tunnel.server, server.isActive else {
            return _ = tunnels.removeValue(forKey: ObjectIdentifier(tunnel.client))
        }
        let bound = NIOLoopBound((board: self, tunnel: tunnel), eventLoop: loop)
        server.closeFuture.whenComplete { _ in
            bound.value.board.tunnels[ObjectIdentifier(bound.value.tunnel.client)] = nil
        }
    }
}
