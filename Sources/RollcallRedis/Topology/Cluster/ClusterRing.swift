// The nodes to ask for the map, one after the other until one gives a usable reply. Each worker starts with a random
// node, so that no single node serves all workers.

import NIOConcurrencyHelpers
import NIOCore

/// The nodes that can be asked. Each connection attempt goes to the next one.
final class ClusterRing: RedisRoute {
    typealias Address = RedisLocation.Address

    private struct State {
        var nodes: [Address]
        var turn = -1
    }

    private let deployment: RedisDeployment
    /// The nodes in the configuration.
    private let seeds: [Address]
    private let credentials: Credentials.Source
    private let state: NIOLockedValueBox<State>

    init(_ seeds: [Address], of deployment: RedisDeployment, credentials: @escaping Credentials.Source) {
        (self.seeds, self.deployment, self.credentials) = (seeds, deployment, credentials)
        state = NIOLockedValueBox(State(nodes: seeds.shuffled()))
    }

    var count: Int { state.withLockedValue { $0.nodes.count } }

    /// The node of the last attempt.
    var current: Address { state.withLockedValue { $0.nodes[max(0, $0.turn)] } }

    /// Replaces the nodes with those of a map. The current node stays current.
    func learn(_ nodes: [Address]) {
        state.withLockedValue { state in
            let current = state.nodes[max(0, state.turn)]
            let known = nodes.isEmpty ? seeds : nodes
            state.nodes = known + seeds.filter { !known.contains($0) }
            if let turn = state.nodes.firstIndex(of: current) {
                state.turn = turn
            } else {
                state.nodes.append(current)
                state.turn = state.nodes.count - 1
            }
        }
    }

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        let node = state.withLockedValue { state in
            state.turn = (state.turn + 1) % state.nodes.count
            return state.nodes[state.turn]
        }
        return ServerRoute(location: deployment.location(at: node), credentials: credentials).next(on: eventLoop)
    }
}
