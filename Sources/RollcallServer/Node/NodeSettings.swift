// The settings of a node, from the worker's configuration.

internal import RollcallCore
internal import RollcallProtocol
package import RollcallRedis

/// The settings of a node: the address of Redis, and the rules for its decisions.
package struct NodeSettings: Sendable {
    package var redis: RedisDeployment
    /// The credentials for Redis.
    var access: WorkerConfiguration.Redis
    var store: Store.Settings
    var shard: ShardSettings
    /// The most devices of one user on this worker.
    var sessionsPerUser: Int
    var worker: String
    var lease: Duration
    var heartbeat: Duration
    var drain: Duration
    /// How far this host's clock and Redis's may differ, since tokens are checked by both; `nil` if there are none.
    var clockTolerance: Duration?
    /// Who may join and ask, for workers to compare.
    var accessRules: String
    /// Hosts to which devices may be sent when the worker stops.
    var peers: [String]
    /// How long to wait for Redis at startup.
    var connectTimeout: Duration

    /// - Throws: `InvalidRedisURL` if `redis.url` is invalid.
    package init(_ configuration: WorkerConfiguration) throws(InvalidRedisURL) {
        redis = try RedisDeployment(url: configuration.redis.url)
        access = configuration.redis
        if let password = configuration.redis.password { redis.password = password.text }
        accessRules = configuration.accessRules
        store = Store.Settings(
            names: KeyNames(prefix: configuration.redis.prefix), retention: configuration.presence.retention,
            typingExpiry: configuration.typing.expiry,
            // On a cluster, the stream and a record are in different slots, which no script can write.
            keptEvents: configuration.events.enabled && !redis.isCluster ? configuration.events.keep : nil,
            readsAccess: configuration.access.url != nil)
        shard = ShardSettings()
        shard.typing.expiry = configuration.typing.expiry
        shard.typing.throttle = configuration.typing.throttle
        shard.typing.coalesce = configuration.typing.coalesce
        shard.typing.names = configuration.typing.names
        shard.hereNames = configuration.here.names
        shard.presenceCoalesce = configuration.presence.coalesce
        shard.grace = configuration.presence.grace
        shard.hello = configuration.limits.hello
        shard.ping = configuration.edge.ping
        // Half of the time in which a device that comes back was never offline, after a lost connection and a worker's crash.
        let kept = [configuration.presence.grace, configuration.worker.lease - configuration.worker.heartbeat].map {
            $0 / 2
        }
        shard.reconnect =
            configuration.edge.reconnect ?? max(.milliseconds(250), kept.reduce(ShardSettings().reconnect, min))
        shard.join = configuration.isOpenByDefault ? .all : .none
        shard.watch = configuration.watchByDefault == .anyone ? .all : .none
        shard.asksAccess = configuration.access.url != nil
        shard.sharedMembers = configuration.access.sharedMembers
        shard.personSelf = configuration.person.own
        shard.limits = ServerMessage.Limits(
            watchedUsers: configuration.limits.watchedUsers,
            joinedConversations: configuration.limits.joinedConversations,
            messageBytes: configuration.limits.messageBytes, messageRate: configuration.limits.messageRate,
            messageBurst: configuration.limits.messageBurst,
            enteredConversations: configuration.limits.enteredConversations,
            hereData: configuration.limits.hereData)
        sessionsPerUser = configuration.limits.sessionsPerUser
        shard.bounds.devicesPerUser = sessionsPerUser
        worker = configuration.worker.id
        lease = configuration.worker.lease
        heartbeat = configuration.worker.heartbeat
        drain = configuration.worker.drain
        clockTolerance = configuration.auth.mode == .jwt ? configuration.auth.leeway : nil
        peers = configuration.edge.peers
        connectTimeout = configuration.redis.connectTimeout
    }
}
