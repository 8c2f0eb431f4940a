// Whom to ask for the map: one node after the other, until one is of use. Each worker begins with another, so that no node
// answers all of them.

import NIOConcurrencyHelpers
import NIOCore

/// The nodes that may be asked: each attempt goes to the next.
final class ClusterRing: RedisRoute {
    typealias Address = RedisLocation.Address

    private struct State {
        var nodes: [Address]
        var turn = -1
    }

    private let deployment: RedisDeployment
    /// Those that the configuration names.
    private let seeds: [Address]
    private let credentials: Credentials.Source
    private let state: NIOLockedValueBox<State>

    init(_ seeds: [Address], of deployment: RedisDeployment, credentials: @escaping Credentials.Source) {
        (self.seeds, self.deployment, self.credentials) = (seeds, deployment, credentials)
        state = NIOLockedValueBox(State(nodes: seeds.shuffled()))
    }

    var count: Int { state.withLockedValue { $0.nodes.count } }

    /// Whose turn it is.
    var current: Address { state.withLockedValue { $0.nodes[max(0, $0.turn)] } }

    /// The map names these; whose turn it is stays so.
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
