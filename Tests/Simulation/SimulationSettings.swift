// What a run is made of.

internal import RedisTwin
internal import RollcallCore
internal import RollcallModel

/// A mistake made on purpose, to see that the simulation finds it.
public enum PlantedBug: String, CaseIterable, Sendable {
    /// A sweep removes a device without looking whether it still is the dead worker's.
    case removalWithoutRecheck = "removal-without-recheck"
    /// A snapshot is read before the subscription stands.
    case readBeforeSubscribing = "read-before-subscribing"
    /// A stop ends the user's typing although another of their devices types.
    case stopIgnoresOtherDevices = "stop-ignores-other-devices"

    var inTwin: Set<RedisTwin.PlantedBug> {
        switch self {
        case .removalWithoutRecheck: [.removalWithoutRecheck]
        case .stopIgnoresOtherDevices: [.stopIgnoresOtherDevices]
        case .readBeforeSubscribing: []
        }
    }
}

/// The deployment that is simulated.
struct SimulationSettings {
    var shard: ShardSettings
    let lease: Duration
    let heartbeat: Duration
    let drain = Duration.seconds(2)
    let workers: Int
    let shards: Int
    var users: [UserID] = names(["alice", "bob", "carol", "dave"])
    var devices: [DeviceID] = names(["laptop", "phone"])
    var conversations: [ConversationID] = names(["club", "room"])
    var planted: PlantedBug?

    /// Draws one: with the defaults of the configuration, or with others that are allowed.
    init(drawnBy chance: Chance) {
        workers = chance.count(in: 2...4)
        shards = chance.count(in: 1...2)
        (lease, heartbeat) = chance.pick([
            (.seconds(5), .seconds(1)), (.seconds(5), .seconds(1)), (.seconds(2), .milliseconds(500)),
            (.seconds(1), .milliseconds(200)),
        ])
        shard = ShardSettings()
        shard.ping = .seconds(4)
        shard.grace = chance.pick([.seconds(5), .seconds(5), .seconds(3)])
        shard.lease = lease
        shard.heartbeat = heartbeat
    }

    /// What outage a lease survives in any case: a heartbeat before it, and a new connection after it.
    var survived: Duration { lease / 2 }

    /// Within what time after a worker's death everybody must know.
    var judging: Duration { lease + Checks.settling }

    /// How long after the last event the last consequence of it can come: a worker stops, the grace of its last device
    /// is over, its lease passes, it is swept by one who has watched for a lease.
    var settled: Duration { drain + shard.grace + lease * 2 + .seconds(4) }

    private static func names<Kind>(_ texts: [String]) -> [Identifier<Kind>] {
        texts.map { text in
            guard let name = try? Identifier<Kind>(text) else { preconditionFailure("\(text) is no name") }
            return name
        }
    }
}
