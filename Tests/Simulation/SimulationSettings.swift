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
    /// What Redis answers is split into words by `Character`: a space before a combining mark is none.
    case splitsByCharacter = "splits-by-character"
    /// What Redis answers is gathered by names as `String`s, of which canonically equal ones are one.
    case keyedByString = "keyed-by-string"
    /// Of a snapshot in several pieces only the first is shown.
    case forgetsTheRest = "forgets-the-rest"
    /// A message that Redis cannot take now is refused without an answer.
    case silentRefusal = "silent-refusal"
    /// A revocation ends no session that stands.
    case revocationSpares = "revocation-spares"
    /// A session outlives its token.
    case tokenNeverExpires = "token-never-expires"
    /// An operator who sends a device away ends all sessions of its worker's loop.
    case sendsAllAway = "sends-all-away"
    /// With each change of a device's state all users are looked up again.
    case readsAllAgain = "reads-all-again"
    /// A session over its rate is closed.
    case closesTalkative = "closes-talkative"
    /// A connection that was held is never read again.
    case neverListens = "never-listens"
    case neverUnlists = "never-unlists"
    /// Sessions without a connection pile up.
    case lingersForever = "lingers-forever"
    /// The order of sessions goes by the clock alone, whatever was stored before it was set back.
    case ordersByClock = "orders-by-clock"
    /// The leases of the dead stand for as long as the clock was set back.
    case leasesIgnoreSteps = "leases-ignore-steps"
    /// Typing that was stored before the clock was set back counts until its expiry.
    case futureTypingCounts = "future-typing-counts"
    /// A revocation is dated by Redis's clock, whatever the hosts' clocks say.
    case revokesByRedisClock = "revokes-by-redis-clock"
    /// A client takes every refusal for final.
    case neverRetries = "never-retries"
    /// The client that ships joins no conversation again after a reconnect.
    case clientNeverRejoins = "client-never-rejoins"
    /// It takes a connection over which nothing comes for a good one.
    case clientTrustsSilence = "client-trusts-silence"
    /// It does not tell a new worker what has become of its device meanwhile.
    case clientKeepsItsState = "client-keeps-its-state"

    var inTwin: Set<RedisTwin.PlantedBug> {
        switch self {
        case .removalWithoutRecheck: [.removalWithoutRecheck]
        case .stopIgnoresOtherDevices: [.stopIgnoresOtherDevices]
        case .ordersByClock: [.ordersByClock]
        case .leasesIgnoreSteps: [.leasesIgnoreSteps]
        case .futureTypingCounts: [.futureTypingCounts]
        case .revokesByRedisClock: [.revokesByRedisClock]
        default: []
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
    /// One seed in four has plain names, which make its trace easier to read.
    var users: [UserID] = ["alice", "bob", "carol", "dave"].map(NameAlphabet.name)
    var devices: [DeviceID] = ["laptop", "phone"].map(NameAlphabet.name)
    var conversations: [ConversationID] = ["club", "room"].map(NameAlphabet.name)
    /// Whether Redis's clock is set now and then.
    private(set) var stepsClock: Bool
    /// Once so many messages wait for a slow reader, its connection takes no more.
    private(set) var patience = 3
    /// Whether devices show tokens that expire and can be revoked, instead of their users' names.
    private(set) var usesTokens = false
    /// The devices on which the client that ships runs, by their indices: some in every other seed.
    private(set) var clients: Set<Int> = []
    private(set) var planted: PlantedBug?

    /// Makes a mistake on purpose, and what shows it.
    mutating func plant(_ bug: PlantedBug?) {
        planted = bug
        switch bug {
        case .neverRetries: shard.bounds.namesAtOnce = 1
        case .ordersByClock, .leasesIgnoreSteps, .futureTypingCounts, .revokesByRedisClock: stepsClock = true
        default: break
        }
    }

    /// Draws one: with the defaults of the configuration, or with others that are allowed.
    ///
    /// - Parameter stepsClock: whether Redis's clock is set now and then.
    init(drawnBy chance: Chance, stepsClock: Bool) {
        self.stepsClock = stepsClock
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
        // The checks expect a change within moments: a longer pause would excuse much else.
        shard.presenceCoalesce = chance.pick([.zero, .milliseconds(50)])
        bind(chance)
        usesTokens = chance.happens(0.5)
        if chance.happens(0.75) {
            users = NameAlphabet.names(4, drawnBy: chance)
            devices = NameAlphabet.names(2, drawnBy: chance)
            conversations = NameAlphabet.names(2, drawnBy: chance)
        }
        if chance.happens(0.5) {
            let all = users.count * devices.count
            clients = Set((1...3).map { _ in chance.count(in: 0...all - 1) })
        }
    }

    /// Makes each bound small in every other seed.
    private mutating func bind(_ chance: Chance) {
        func small(_ bound: WritableKeyPath<ShardSettings, Int>, _ sizes: ClosedRange<Int>) {
            let size = chance.count(in: sizes)
            if chance.happens(0.5) { shard[keyPath: bound] = size }
        }
        small(\.limits.watchedUsers, 2...4)
        small(\.limits.joinedConversations, 1...2)
        small(\.bounds.lingeringSessions, 1...2)
        small(\.bounds.lingeringPerOpen, 0...1)
        small(\.bounds.waitingMessages, 1...3)
        small(\.bounds.showBatch, 1...2)
        small(\.bounds.tellBatch, 1...2)
        small(\.bounds.readBatch, 1...2)
        small(\.bounds.auditBatch, 1...1)
        small(\.typing.names, 1...2)
        small(\.limits.messageRate, 2...6)
        small(\.limits.messageBurst, 6...12)
        small(\.bounds.namesAtOnce, 1...3)
        if chance.happens(0.5) { shard.bounds.auditCycle = chance.duration(in: .seconds(2)...Duration.seconds(10)) }
        if chance.happens(0.5) { patience = chance.count(in: 1...2) }
    }

    /// What outage a lease survives in any case: a heartbeat before it, and a new connection after it.
    var survived: Duration { lease / 2 }

    /// Within what time after a worker's death everybody must know.
    var judging: Duration { lease + Checks.settling }

    /// How long after the last event the last consequence of it can come: a worker stops, the grace of its last device
    /// is over, its lease passes, it is swept by one who has watched for a lease.
    var settled: Duration { drain + shard.grace + lease * 2 + .seconds(4) }
}
