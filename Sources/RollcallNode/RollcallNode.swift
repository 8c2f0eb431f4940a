// A node embedded in a server. It reads and writes presence and typing in Redis from the server's own process, with the
// same streams that apps have, and without a WebSocket in between.

internal import Logging
internal import NIOConcurrencyHelpers
public import NIOCore
public import NIOPosix
@_exported public import RollcallClient
public import RollcallServer
public import ServiceLifecycle

@_exported public import struct RollcallServer.CannotServe
@_exported public import struct RollcallServer.ConfigurationProblem
@_exported public import struct RollcallServer.ConfigurationProblems
@_exported public import protocol RollcallServer.NodeAccess
@_exported public import enum RollcallServer.RollcallVersion
@_exported public import struct RollcallServer.Secret
@_exported public import struct RollcallServer.Unavailable
@_exported public import struct RollcallServer.WorkerConfiguration

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A Rollcall node embedded in a server.
///
///     let rollcall = try await RollcallNode(redis: "redis://127.0.0.1:6379")
///     let bot = rollcall.client(user: "support", name: "Support", device: "server-1")
///     bot.connect()
///     // … in a service: for await typing in bot.typing(in: "c42") { … }
///     let group = ServiceGroup(services: [rollcall, app], logger: logger)
///
/// The node holds its own lease, as each worker does. If this process dies, observers see its devices go offline. No
/// client can connect to the node from outside, and this process decides which users its clients act for
/// (``client(user:device:options:)``). Metrics go to the swift-metrics backend that this process has bootstrapped
/// before it creates the node. In a service group, list the node before the services that use it, so that it stops
/// after them.
public final class RollcallNode: Service {
    let node: Node
    private let local: LocalEdge
    private let group: any EventLoopGroup
    private let clients = NIOLockedValueBox(Flock())

    /// Prepares a node; ``run()`` connects it to Redis.
    ///
    /// - Parameters:
    ///   - configuration: the same as for a worker, ideally read from the same file. Its `edge`, `admin`, `auth` and
    ///     `log` sections are ignored; `conversations.default` is `open`, and `access.watch` is `anyone`, unless they are set.
    ///   - group: the event loops of the node. Each has two connections to Redis (on a cluster, up to two to each
    ///     primary). One event loop handles tens of thousands of messages per second.
    /// - Throws: if `redis.url` is not valid, or a file with Redis credentials is not usable.
    public init(
        _ configuration: WorkerConfiguration,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton.next()
    ) async throws {
        var configuration = configuration
        configuration.conversations.default = configuration.conversations.default ?? .open
        configuration.access.watch = configuration.access.watch ?? .anyone
        node = try await Node(NodeSettings(configuration), group: group, logger: Logger(label: "rollcall.node"))
        local = LocalEdge(node)
        self.group = group
    }

    /// Prepares a node with the default configuration and this Redis.
    public convenience init(redis url: String) async throws {
        var configuration = WorkerConfiguration()
        configuration.redis.url = url
        try await self.init(configuration)
    }

    /// Creates a client in this process for one device. Its streams, fetches and typing inputs are those of an app, and
    /// it reconnects if the node ends its session. It may be created and connected before ``run()``.
    ///
    /// A session can follow as many users and conversations as `limits` in the configuration allows. To observe more,
    /// create several clients with different device names.
    ///
    /// - Parameters:
    ///   - name: What others are shown as the user's name, as the claim `name` of an app's token says it: cleaned, and at
    ///     most 128 bytes. `nil` changes nothing.
    ///   - device: A name that no other device of this user has, in any process. If a new process uses the same name, as in
    ///     a deployment, it takes the device over without it appearing offline.
    public func client(
        user: UserID, name: String? = nil, device: DeviceID, options: ClientOptions = ClientOptions()
    ) -> RollcallClient {
        let loop = group.next()
        let profile = Profile(name: name.map(ByteString.init))
        let client = RollcallClient(
            device: device, options: options, token: TokenSource { (_: TokenRequest) in user.description },
            in: .on(loop)
        ) { [local] _, owner in
            let wire = LocalWire(of: user, profile, on: loop, owner: owner)
            wire.connect(to: local)
            return wire
        }
        clients.withLockedValue { $0.add(client) }
        return client
    }

    /// Runs the node until its task is cancelled or its service group shuts down; then its clients' streams end.
    ///
    /// Its devices keep their presence for `presence.grace`, so that the next process can take over without them
    /// appearing offline. To take a device offline at once, call ``RollcallClient/RollcallClient/shutdown()`` first.
    ///
    /// - Throws: ``RollcallServer/CannotServe`` if no Redis answers within `redis.connect_timeout`.
    public func run() async throws {
        do {
            try await node.start(edge: "", host: ProcessInfo.processInfo.hostName) { [local] in local.connections }
            try? await gracefulShutdown()
        } catch is CancellationError {
            // Stopped before it was ready, which is not an error.
        } catch {
            await stop()
            throw error
        }
        await stop()
    }

    /// Stops in order. Runs in its own task, because a cancelled task would not wait.
    private func stop() async {
        await Task { [node, local, clients] in
            local.stopAccepting()
            try? await node.drain(over: .zero)
            for client in clients.withLockedValue({ $0.members }) { await client.shutdown() }
            try? await node.stop()
        }.value
    }
}

// Requests to Redis, outside of any client's session.
extension RollcallNode: NodeAccess {
    public func presence(
        of users: [UserID], as viewer: UserID?, in conversation: ConversationID?
    ) async throws -> [Presence] {
        try await node.presence(of: users, as: viewer, in: conversation)
    }

    public func storedPresence(of users: [UserID]) async throws -> [Presence] {
        try await node.storedPresence(of: users)
    }

    public func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        try await node.typing(in: conversation)
    }

    public func here(in conversation: ConversationID) async throws -> ServerMessage.Here {
        try await node.here(in: conversation)
    }

    public func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        try await node.members(of: conversation)
    }

    public func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await node.setMembers(members, of: conversation)
    }

    public func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await node.setMember(user, name: name, of: conversation)
    }

    public func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await node.removeMember(user, of: conversation)
    }

    public func endMembership(of conversation: ConversationID) async throws {
        try await node.endMembership(of: conversation)
    }

    public var isReady: Bool { node.isReady }

    /// Returns what a user has decided that others see, and whom they have blocked; `nil` if nothing.
    public func person(of user: UserID) async throws -> Person? { try await node.person(of: user) }

    /// Sets what others see of a user, on all workers within a second. What is not named stays.
    ///
    /// - Returns: what counts now.
    /// - Throws: ``Unavailable``; an error that says so if an end is past or more than a year ahead.
    @discardableResult
    public func setPerson(_ settings: Person.Setting..., of user: UserID) async throws -> Person {
        try await node.change(user, .patch, PersonPatch(settings), blocks: [:])
    }

    /// Blocks another user, or no longer: neither sees the other. Your server also stops their messages.
    ///
    /// - Throws: ``Unavailable``; an error that says so if a user would block more than 1,000 others.
    public func setBlocked(_ isBlocked: Bool, _ other: UserID, by user: UserID) async throws {
        _ = try await node.change(user, .patch, PersonPatch(), blocks: [other: isBlocked])
    }
}

extension Environment {
    /// The system's clock and random numbers, and this event loop, which limits how long a timer may take; one that fires early
    /// is set again.
    fileprivate static func on(_ loop: any EventLoop) -> Environment {
        Environment(now: { .now }, random: { .random(in: .min ... .max) }, run: { loop.execute($0) }) {
            let timer = loop.scheduleTask(in: TimeAmount(max(.zero, ContinuousClock.now.duration(to: $0))), $1)
            return { timer.cancel() }
        }
    }
}
