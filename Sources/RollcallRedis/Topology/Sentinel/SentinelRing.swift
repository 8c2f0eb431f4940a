// The ways to the sentinels. One connection asks and another hears, of the same sentinel: two would tell of a failover each
// in its own time, and whoever believed both would go back and forth.

import NIOConcurrencyHelpers
import NIOCore

/// The sentinels of a deployment, and the one that is believed now.
final class SentinelRing: Sendable {
    private struct State {
        var list: SentinelList
        var watchers = RouteWatchers()
    }

    private let state: NIOLockedValueBox<State>
    private let isEncrypted: Bool
    private let credentials: Credentials.Source

    init(_ sentinels: [RedisLocation.Address], isEncrypted: Bool, credentials: @escaping Credentials.Source) {
        state = NIOLockedValueBox(State(list: SentinelList(sentinels)))
        self.isEncrypted = isEncrypted
        self.credentials = credentials
    }

    /// Leads on to the next at each attempt.
    var onward: any RedisRoute { Onward(ring: self) }
    /// Leads to the one that is believed.
    var current: any RedisRoute { Current(ring: self) }

    var sentinels: [RedisLocation.Address] { state.withLockedValue { $0.list.all } }

    func learn(_ others: [RedisLocation.Address]) {
        state.withLockedValue { $0.list.learn(others) }
    }

    /// What the one whose turn it is said was true.
    func proved() {
        state.withLockedValue { $0.list.proved() }
    }

    private func way(to sentinel: RedisLocation.Address) -> SentinelWay {
        SentinelWay(sentinel, isEncrypted: isEncrypted, credentials: credentials)
    }

    private struct Onward: RedisRoute {
        let ring: SentinelRing

        func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
            let (next, watchers) = ring.state.withLockedValue { ($0.list.advance(), $0.watchers) }
            watchers.tell()
            return ring.way(to: next).next(on: eventLoop)
        }
    }

    private struct Current: RedisRoute {
        let ring: SentinelRing

        func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
            let current = ring.state.withLockedValue { $0.list.current ?? $0.list.all[0] }
            return ring.way(to: current).next(on: eventLoop)
        }

        func leads(to destination: Destination) -> Bool {
            ring.state.withLockedValue { $0.list.current == destination.location.address }
        }

        func watch(_ watcher: ObjectIdentifier, moved: @escaping @Sendable () -> Void) {
            ring.state.withLockedValue { $0.watchers.add(watcher, moved) }
        }

        func unwatch(_ watcher: ObjectIdentifier) {
            ring.state.withLockedValue { $0.watchers.remove(watcher) }
        }
    }
}
