// The network around a Redis: a proxy before each of its servers, and one worker's share of what passes through them.

internal import Harness
internal import NIOConcurrencyHelpers
internal import TestSupport

/// The proxies before the servers of a Redis that is more than one.
final class Network: Sendable {
    private let proxies = NIOLockedValueBox<[GatePlace: Proxy]>([:])

    /// Puts a proxy before a place.
    @Sendable func gate(_ place: GatePlace) async throws -> Proxy {
        let proxy = try await Proxy(isRedis: true)
        proxies.withLockedValue { $0[place] = proxy }
        return proxy
    }

    /// Cuts off one server and one worker from all others, and leaves them each other. What is under way is held.
    ///
    /// - Parameter ids: of a cluster's nodes, in the order of the servers.
    func split(off server: Int, with worker: Int, nodes ids: [String] = []) async throws {
        for (place, proxy) in proxies.withLockedValue({ $0 }) {
            switch place {
            case .server(server): try await proxy.set(.stalled, for: Traffic.all.subtracting(.worker(worker)))
            case .bus(server): try await proxy.set(.stalled)
            case .server, .sentinel: try await proxy.set(.stalled, for: .worker(worker))
            case .bus:
                // They come again, and are known then.
                try await proxy.tell(nodes: ids)
                try await proxy.set(.stalled, for: .node(server))
                try await proxy.cut(.reset)
            }
        }
    }

    /// Everybody reaches everybody again.
    func heal() async throws {
        for proxy in proxies.withLockedValue({ Array($0.values) }) { try await proxy.set(.clear) }
    }

    /// All ways of a worker.
    func ways(of worker: Int) -> Ways {
        Ways(proxies.withLockedValue { Array($0.values) }, of: .worker(worker))
    }
}

/// The ways of one worker to Redis, however many there are.
struct Ways: Sendable {
    private let proxies: [Proxy]
    private let own: Traffic

    init(_ proxies: [Proxy], of own: Traffic = .all) {
        (self.proxies, self.own) = (proxies, own)
    }

    /// The weather on all of them, for these connections.
    func set(_ weather: Weather, for traffic: Traffic = .all) async throws {
        for proxy in proxies { try await proxy.set(weather, for: traffic.intersection(own)) }
    }

    /// Cuts the connections that stand.
    func cut(_ how: Cut, _ traffic: Traffic = .all) async throws {
        for proxy in proxies { try await proxy.cut(how, traffic.intersection(own)) }
    }

    /// How many bytes of anybody are held back.
    func heldBytes() async throws -> Int {
        var bytes = 0
        for proxy in proxies { bytes += try await proxy.heldBytes() }
        return bytes
    }

    /// Waits for these bytes to be sent (in one piece), and stalls the connection on which they are, beginning with them.
    ///
    /// - Parameter armed: called when all is ready for that.
    func stallOnSight(of marker: String, armed: () async throws -> Void) async throws {
        let (sprung, trap) = AsyncStream.makeStream(of: Void.self)
        for proxy in proxies { try await proxy.stall(onSightOf: marker) { trap.finish() } }
        try await armed()
        for await _ in sprung {}
    }

    /// Where all of them lead from now on.
    func aim(at port: Int?) async throws {
        for proxy in proxies { try await proxy.aim(at: port) }
    }
}
