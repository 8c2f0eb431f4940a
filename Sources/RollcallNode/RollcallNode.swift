// A worker's node inside a server: who is here and who is typing, straight from Redis in the server's own process, with
// the very same streams that apps have, and without a WebSocket in between.

internal import Logging
internal import NIOConcurrencyHelpers
public import NIOCore
public import NIOPosix
@_exported public import RollcallClient
@_exported public import RollcallWorker
public import ServiceLifecycle

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A node of Rollcall, embedded in a server.
///
///     let rollcall = try await RollcallNode(redis: "redis://127.0.0.1:6379")
///     let bot = rollcall.client(user: "support", device: "server-1")
///     bot.connect()
///     // … in a service: for await typing in bot.typing(in: "c42") { … }
///     let group = ServiceGroup(services: [rollcall, app], logger: logger)
///
/// It holds a lease beside the workers, so that what its devices say is as safe as what an app's say: observers see
/// them go when this process dies. Nobody connects to it from outside; who its ``client(user:device:options:)`` speaks
/// for is for this process to say. What it does is reported to the backend of swift-metrics that this process has
/// bootstrapped before it makes the node. As a service it belongs before those that use it, so that it stops after them.
public final class RollcallNode: Service {
    private let node: Node
    private let local: LocalEdge
    private let group: any EventLoopGroup
    private let clients = NIOLockedValueBox(Flock())

    /// Prepares a node; ``run()`` connects it to Redis.
    ///
    /// - Parameters:
    ///   - configuration: as a worker's, and best from the same file. What it says of `edge`, `admin`, `auth` and `log`
    ///     does not matter here.
    ///   - group: the event loops on which it lives, each with two connections to Redis. One is enough for tens of
    ///     thousands of messages a second.
    /// - Throws: if `redis.url` names no Redis, or a file by which that lets us in is of no use.
    public init(
        _ configuration: WorkerConfiguration,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton.next()
    ) async throws {
        // Nobody comes from outside, so that no token is ever checked.
        var configuration = configuration
        configuration.auth.mode = .insecure
        node = try await Node(
            NodeSettings(configuration), authenticator: Authenticator(configuration.auth), group: group,
            logger: Logger(label: "rollcall.node"))
        local = LocalEdge(node)
        self.group = group
    }

    /// Prepares a node with the defaults of everything but where Redis is.
    public convenience init(redis url: String) async throws {
        var configuration = WorkerConfiguration()
        configuration.redis.url = url
        try await self.init(configuration)
    }

    /// A client in this process, for a device of its own: its streams, fetches and typing inputs are those of an app,
    /// and it connects again if the node ends its session. It may be made and connected before ``run()``.
    ///
    /// A session follows as much as the configuration's `limits` say; a server that observes more makes several clients,
    /// each with a device name of its own.
    ///
    /// - Parameter device: told from all other devices of this user, other processes' among them; a process that comes
    ///   after this one with the same name, as in a deployment, takes its place without anybody seeing it gone.
    public func client(
        user: UserID, device: DeviceID, options: ClientOptions = ClientOptions()
    ) -> RollcallClient {
        let client = RollcallClient(
            device: device, options: options, token: { user.description }, on: group.next()
        ) { [local] _, loop, owner in
            let wire = LocalWire(of: user, on: loop, owner: owner)
            wire.connect(to: local)
            return wire
        }
        clients.withLockedValue { $0.add(client) }
        return client
    }

    /// Serves until its task is cancelled or its service group shuts down; then its clients' streams end.
    ///
    /// What its devices were stays for `presence.grace`, so that the next process may take over without a flap; a
    /// device that is to be gone at once says so with ``RollcallClient/RollcallClient/shutdown()`` before.
    ///
    /// - Throws: ``RollcallWorker/CannotServe`` if no Redis answers within `redis.connect_timeout`.
    public func run() async throws {
        do {
            try await node.start(edge: "", host: ProcessInfo.processInfo.hostName) { [local] in local.connections }
            try? await gracefulShutdown()
        } catch is CancellationError {
            // Told to stop before it was ready: there is nothing amiss.
        } catch {
            await stop()
            throw error
        }
        await stop()
    }

    /// An end in good order takes a moment, for which a cancelled task would not wait.
    private func stop() async {
        await Task { [node, local, clients] in
            local.stopAccepting()
            try? await node.drain(over: .zero)
            for client in clients.withLockedValue({ $0.members }) { await client.shutdown() }
            try? await node.stop()
        }.value
    }
}

// What Redis says now, read once.
extension RollcallNode: NodeAccess {
    public func presence(of users: [UserID]) async throws -> [Presence] { try await node.presence(of: users) }

    public func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        try await node.typing(in: conversation)
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
}
