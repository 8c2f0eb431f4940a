// What a run consists of.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// A deliberate bug, to check that the simulation finds it.
public enum PlantedBug: String, CaseIterable, Sendable {
    /// A sweep removes a device without checking that it still belongs to the dead worker.
    case removalWithoutRecheck = "removal-without-recheck"
    /// A snapshot is read before its subscription is confirmed.
    case readBeforeSubscribing = "read-before-subscribing"
    /// A stop ends the user's typing although another of their devices still types.
    case stopIgnoresOtherDevices = "stop-ignores-other-devices"
    /// Text from Redis is split into words by `Character`, which misses a space before a combining mark.
    case splitsByCharacter = "splits-by-character"
    /// Text from Redis is keyed by `String`, which merges canonically equal names.
    case keyedByString = "keyed-by-string"
    /// Only the first part of a snapshot in several parts is shown.
    case forgetsTheRest = "forgets-the-rest"
    /// A message that Redis cannot process now is refused without an answer.
    case silentRefusal = "silent-refusal"
    /// A revocation ends no open session.
    case revocationSpares = "revocation-spares"
    /// A session outlives its token.
    case tokenNeverExpires = "token-never-expires"
    /// An operator who disconnects a device ends all sessions of its worker's event loop.
    case sendsAllAway = "sends-all-away"
    /// Each change of a device's state reads all users again.
    case readsAllAgain = "reads-all-again"
    /// A session over its message rate is closed.
    case closesTalkative = "closes-talkative"
    /// A connection that was paused is never read again.
    case neverListens = "never-listens"
    /// A session that ended stays on its worker's list.
    case neverUnlists = "never-unlists"
    /// Disconnected sessions pile up.
    case lingersForever = "lingers-forever"
    /// Sessions are ordered by the clock alone, even after it was set back.
    case ordersByClock = "orders-by-clock"
    /// Leases of dead workers stay valid for as long as the clock was set back.
    case leasesIgnoreSteps = "leases-ignore-steps"
    /// Typing that was stored before the clock was set back counts until its expiry.
    case futureTypingCounts = "future-typing-counts"
    /// A revocation is dated by Redis's clock alone, which may be behind the hosts' clocks.
    case revokesByRedisClock = "revokes-by-redis-clock"
    /// Observers can see that background devices connected or disconnected.
    case showsBackground = "shows-background"
    /// The real client joins no conversation again after a reconnect.
    case clientNeverRejoins = "client-never-rejoins"
    /// The real client treats a silent connection as a good one.
    case clientTrustsSilence = "client-trusts-silence"
    /// The real client does not report changes of its device's state to a new worker.
    case clientKeepsItsState = "client-keeps-its-state"
    /// A sweep appends no event.
    case sweepsSilently = "sweeps-silently"
    /// A write that came too late appends an event.
    case appendsWithoutWriting = "appends-without-writing"
    /// Events are not reset after Redis lost data.
    case neverResets = "never-resets"
    /// After Redis has lost data, a missing record counts at once.
    case missingCounts = "missing-counts"

    /// A fresh token does not change whom the session may ask about.
    case keepsFirstRight = "keeps-first-right"
    /// A fresh token does not change what the session says of its user.
    case keepsFirstName = "keeps-first-name"
    /// Entries are not listed, so that nobody finds those of a dead worker.
    case entriesUnlisted = "entries-unlisted"
    /// The exit of an older session takes its item off the list of another of the same device.
    case unlistsOthers = "unlists-others"
    /// An exit ends the entries of all sessions of the device.
    case exitsOthers = "exits-others"
    /// An exit is not repeated, although an enter may come late whose reply was lost.
    case exitsOnce = "exits-once"
    /// What was entered is not written again after an outage.
    case forgetsEntries = "forgets-entries"
    /// An entry stays when its session ends.
    case entriesStay = "entries-stay"
    /// A device in the background is here.
    case hereInBackground = "here-in-background"

    /// What apps' servers say ends with the worker that was told.
    case adoptsNothing = "adopts-nothing"
    /// What another worker was told to end is written again after a reconnect.
    case renewsWhatEnded = "renews-what-ended"

    /// Each outage begins the time anew in which the one before has to settle.
    case settlesAnew = "settles-anew"
    /// Where the app's server does not answer, it is as if it had admitted everybody.
    case failureAdmits = "failure-admits"
    /// Admissions are not renewed.
    case renewsNothing = "renews-nothing"
    /// An answer counts although its admission was dropped meanwhile.
    case answersOutliveDrops = "answers-outlive-drops"

    /// The first seed that finds it.
    public var seed: UInt64 {
        switch self {
        case .closesTalkative, .neverListens, .neverUnlists, .showsBackground, .clientNeverRejoins, .failureAdmits: 1
        case .stopIgnoresOtherDevices, .clientTrustsSilence: 1
        case .removalWithoutRecheck, .forgetsTheRest, .sendsAllAway, .adoptsNothing, .readsAllAgain: 2
        case .entriesUnlisted, .hereInBackground, .clientKeepsItsState, .entriesStay, .tokenNeverExpires: 2
        case .silentRefusal, .keepsFirstRight: 2
        case .splitsByCharacter: 3
        case .forgetsEntries, .exitsOthers, .unlistsOthers: 4
        case .revocationSpares: 10
        case .lingersForever, .appendsWithoutWriting: 7
        case .leasesIgnoreSteps: 12
        case .keepsFirstName: 19
        case .keyedByString: 21
        case .exitsOnce: 30
        case .sweepsSilently: 33
        case .readBeforeSubscribing: 34
        case .answersOutliveDrops: 37
        case .missingCounts: 242
        case .revokesByRedisClock: 54
        case .ordersByClock: 64
        case .neverResets: 111
        case .futureTypingCounts: 117
        case .settlesAnew: 146
        case .renewsWhatEnded: 8290
        case .renewsNothing: 5
        }
    }

    var inTwin: Set<RedisTwin.PlantedBug> {
        switch self {
        case .removalWithoutRecheck: [.removalWithoutRecheck]
        case .stopIgnoresOtherDevices: [.stopIgnoresOtherDevices]
        case .ordersByClock: [.ordersByClock]
        case .leasesIgnoreSteps: [.leasesIgnoreSteps]
        case .futureTypingCounts: [.futureTypingCounts]
        case .revokesByRedisClock: [.revokesByRedisClock]
        case .showsBackground: [.showsBackground]
        case .sweepsSilently: [.sweepsSilently]
        case .appendsWithoutWriting: [.appendsWithoutWriting]
        case .neverResets: [.neverResets]
        case .exitsOthers: [.exitsOthers]
        case .unlistsOthers: [.unlistsOthers]
        case .renewsWhatEnded: [.renewsWhatEnded]
        case .answersOutliveDrops: [.answersOutliveDrops]
        default: []
        }
    }
}

/// The simulated deployment.
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
    /// Whether Redis's clock is set from time to time.
    private(set) var stepsClock: Bool
    /// The most messages that wait for a slow reader before its connection is full.
    private(set) var patience = 3
    /// Whether devices send tokens that expire and can be revoked, instead of their users' names.
    private(set) var usesTokens = false
    /// The indices of the devices that run the real client: some in every other seed.
    private(set) var clients: Set<Int> = []
    /// Whether devices have conversations open, in half of the seeds.
    private(set) var visits = false
    /// Whether sessions see only those with whom they share a conversation, and whom their token names.
    private(set) var sharesOnly = false
    /// Whether an app's server says who may join the second conversation.
    private(set) var asksAccess = false
    private(set) var planted: PlantedBug?

    /// Plants a bug, and chooses settings that reveal it.
    mutating func plant(_ bug: PlantedBug?) {
        planted = bug
        switch bug {
        case .ordersByClock, .leasesIgnoreSteps, .futureTypingCounts, .revokesByRedisClock: stepsClock = true
        default: break
        }
        // What others reveal does not depend on it, and their first seeds stay.
        guard let bug else { return }
        setAccess([.failureAdmits, .renewsNothing, .answersOutliveDrops].contains(bug))
    }

    private mutating func setAccess(_ asks: Bool) {
        asksAccess = asks
        (shard.asksAccess, shard.join) = (asks, asks ? .none : .all)
    }

    /// Draws settings: the defaults of the configuration, or other valid ones.
    ///
    /// - Parameter stepsClock: whether Redis's clock is set from time to time.
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
        // The checks expect updates soon: a longer pause would excuse too much.
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
        sharesOnly = chance.happens(0.4)
        if sharesOnly { (shard.watch, shard.sharedMembers) = (.none, chance.pick([100, 3, 2])) }
        setAccess(chance.happens(0.35))
    }

    /// Makes each limit small in every other seed.
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
        shard.bounds.showBytes = min(shard.bounds.showBytes, 200 * shard.bounds.showBatch)
        shard.bounds.tickBytes = min(shard.bounds.tickBytes, 100 * shard.bounds.tellBatch)
        small(\.bounds.readBatch, 1...2)
        small(\.bounds.auditBatch, 1...1)
        small(\.typing.names, 1...2)
        small(\.limits.messageRate, 2...6)
        small(\.limits.messageBurst, 6...12)
        if chance.happens(0.5) { shard.bounds.auditCycle = chance.duration(in: .seconds(2)...Duration.seconds(10)) }
        if chance.happens(0.5) { patience = chance.count(in: 1...2) }
        visits = chance.happens(0.5)
        small(\.hereNames, 1...3)
        small(\.limits.enteredConversations, 1...1)
    }

    /// The longest outage that a lease certainly survives, with a heartbeat before it and a new connection after it.
    var survived: Duration { lease / 2 }

    /// The longest that Redis may take to answer, so that a worker can tell that from an outage. The network takes the rest.
    var longestAnswer: Duration {
        max(.milliseconds(60), (lease - LeaseCoordinator.clockTolerance) / 2 - .milliseconds(20))
    }

    /// The time limit after a worker's death until all observers must know.
    var judging: Duration { lease + Checks.settling }

    /// How long the consequences of the last event may take: a worker stops, its last device's grace period ends, its
    /// lease expires, and it is swept by a worker that has watched leases for one lease.
    var settled: Duration { drain + shard.grace + lease * 2 + .seconds(4) }
}
