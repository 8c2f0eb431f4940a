// The network around a Redis deployment: a proxy in front of each server, and one worker's part of the traffic.

internal import Harness
internal import NIOConcurrencyHelpers
internal import TestSupport

/// The proxies in front of the servers of a Redis deployment with more than one server.
final class Network: Sendable {
    private let proxies = NIOLockedValueBox<[GatePlace: Proxy]>([:])

    /// Puts a proxy in front of a server.
    @Sendable func gate(_ place: GatePlace) async throws -> Proxy {
        let proxy = try await Proxy(isRedis: true)
        proxies.withLockedValue { $0[place] = proxy }
        return proxy
    }

    /// Cuts off one server and one worker from all others, but not from each other. Bytes in flight are held back.
    ///
    /// - Parameter ids: the ids of a cluster's nodes, in the order of the servers.
    func split(off server: Int, with worker: Int, nodes ids: [String] = []) async throws {
        for (place, proxy) in proxies.withLockedValue({ $0 }) {
            switch place {
            case .server(server): try await proxy.set(.stalled, for: Traffic.all.subtracting(.worker(worker)))
            case .bus(server): try await proxy.set(.stalled)
            case .server, .sentinel: try await proxy.set(.stalled, for: .worker(worker))
            case .bus:
                // Nodes then connect again, and their connections can be classified.
                try await proxy.tell(nodes: ids)
                try await proxy.set(.stalled, for: .node(server))
                try await proxy.cut(.reset)
            }
        }
    }

    /// Ends the split.
    func heal() async throws {
        for proxy in proxies.withLockedValue({ Array($0.values) }) { try await proxy.set(.clear) }
    }

    /// Returns all connections of a worker to Redis.
    func ways(of worker: Int) -> Ways {
        Ways(proxies.withLockedValue { Array($0.values) }, of: .worker(worker))
    }
}

/// The connections of one worker to Redis, through any number of proxies.
struct Ways: Sendable {
    private let proxies: [Proxy]
    private let own: Traffic

    init(_ proxies: [Proxy], of own: Traffic = .all) {
        (self.proxies, self.own) = (proxies, own)
    }

    /// Sets what happens to this worker's traffic on all proxies.
    func set(_ weather: Weather, for traffic: Traffic = .all) async throws {
        for proxy in proxies { try await proxy.set(weather, for: traffic.intersection(own)) }
    }

    /// Cuts the open connections.
    func cut(_ how: Cut, _ traffic: Traffic = .all) async throws {
        for proxy in proxies { try await proxy.cut(how, traffic.intersection(own)) }
    }

    /// Returns the number of bytes from all clients that are held back.
    func heldBytes() async throws -> Int {
        var bytes = 0
        for proxy in proxies { bytes += try await proxy.heldBytes() }
        return bytes
    }

    /// Waits until these bytes are sent, in one piece, and stalls that connection, starting with those bytes.
    ///
    /// - Parameter armed: called when the trap is set.
    func stallOnSight(of marker: String, armed: () async throws -> Void) async throws {
        let (sprung, trap) = AsyncStream.makeStream(of: Void.self)
        for proxy in proxies { try await proxy.stall(onSightOf: marker) { trap.finish() } }
        try await armed()
        for await _ in sprung {}
    }

    /// Forwards new connections to this port from now on.
    func aim(at port: Int?) async throws {
        for proxy in proxies { try await proxy.aim(at: port) }
    }
}
