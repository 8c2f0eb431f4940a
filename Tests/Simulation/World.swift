// Everything that a run consists of.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// A machine on which workers run, one after another.
final class Place {
    let index: Int
    /// The connections of each shard to Redis.
    let routes: [RedisRoutes]
    fileprivate(set) var worker: SimulatedWorker?
    /// How many workers have run here under each id.
    fileprivate var lives: [String: Int] = [:]

    init(_ index: Int, shards: Int, in world: World) {
        self.index = index
        routes = (0..<shards).map { _ in
            RedisRoutes(
                commands: Route(agenda: world.agenda, chance: world.network),
                messages: Route(agenda: world.agenda, chance: world.network))
        }
    }

    /// The configured id of the worker here.
    var id: String { "w\(index + 1)" }
}

/// A simulated deployment: one Redis, workers, devices, and their expected state.
final class World {
    let settings: SimulationSettings
    let agenda = Agenda()
    let trace: Trace
    /// Random streams for the network, for workers' own decisions, for users, and for faults.
    let network: Chance
    let workerChance: Chance
    let deviceChance: Chance
    let faultChance: Chance

    let users: [UserID]
    let conversations: [ConversationID]
    let names: [DeviceName]
    private(set) var places: [Place] = []
    private(set) var devices: [any Device] = []
    /// The devices that run the real client.
    private(set) var clients: [ClientDevice] = []
    private(set) var redis: RedisServer!
    private(set) var truth: Truth!
    private(set) var checks: Checks!
    private(set) var consumer: Consumer!
    private(set) var bridge: Bridge!
    private(set) var app: AppServer?
    private(set) var weather = Weather()
    var bounds = BoundCounts()
    var tokens: [Token] = []
    /// All sessions that shards have begun.
    var sessions: [LivingSession] = []
    /// Whether all users are inactive.
    var isStill = false
    /// Former workers, which messages in flight may still name.
    private var gone: [SimulatedWorker] = []
    /// Counts beginnings and ends of outages.
    private var turns = 0

    init(_ settings: SimulationSettings, _ chance: Chance, isTraced: Bool) {
        self.settings = settings
        network = chance.fork()
        workerChance = chance.fork()
        deviceChance = chance.fork()
        faultChance = chance.fork()
        trace = Trace(isKept: isTraced, agenda: agenda)
        users = settings.users
        conversations = settings.conversations
        names = users.flatMap { user in settings.devices.map { DeviceName(user: user, device: $0) } }.sorted()
        consumer = Consumer(self)
        bridge = Bridge(self)
        app = AppServer(self)
        redis = RedisServer(self, planted: settings.planted?.inTwin ?? [])
        truth = Truth(self)
        checks = Checks(self)
        places = (0..<settings.workers).map { Place($0, shards: settings.shards, in: self) }
        devices = names.enumerated().map { index, name -> any Device in
            if settings.clients.contains(index) { return ClientDevice(self, index, name) }
            return SimulatedDevice(self, index, name)
        }
        clients = devices.compactMap { $0 as? ClientDevice }
    }

    /// Drops references to the world, to break retain cycles.
    func end() {
        for worker in workers { worker.end() }
        for device in devices { device.end() }
        redis.end()
        agenda.clear()
        gone = []
        places = []
        devices = []
        clients = []
    }

    // MARK: Workers

    /// Starts a worker, unless one runs here.
    func startWorker(at place: Place, as id: String? = nil) {
        guard place.worker == nil else { return }
        let id = id ?? place.id
        place.lives[id, default: 0] += 1
        let worker = SimulatedWorker(self, id: id, life: place.lives[id]!, place: place)
        place.worker = worker
        worker.start()
    }

    func gone(_ worker: SimulatedWorker) {
        gone.append(worker)
        for place in places where place.worker === worker { place.worker = nil }
    }

    var workers: [SimulatedWorker] { places.compactMap(\.worker) }
    /// The open connections of all workers.
    var observers: [EdgeSession] { workers.flatMap(\.edges) }

    // MARK: Outages

    func outageBegins(at place: Weather.Place, isLateness: Bool = false) -> Int {
        turns += 1
        return weather.begins(at: place, isLateness: isLateness, agenda.now)
    }

    func outageEnds(_ spell: Int) {
        turns += 1
        weather.ends(spell, agenda.now)
    }

    /// What may be expected has changed.
    func turned() { turns += 1 }

    /// Counts all changes of what may be expected.
    var revision: Int { turns + truth.revision }

    /// Returns how old views may be that depend on these places.
    func calm(at places: [Weather.Place], settling: Duration = Checks.settling) -> Instant {
        weather.calm(before: agenda.now, at: places, settling: settling)
    }

    /// Returns from when on the workers on these machines may hold back what they had not written: under a new
    /// incarnation, without an outage, they write weaker states and removals later. The moment, by default
    /// `now`, if they hold back nothing then.
    func heldBack(at machines: [Weather.Place], before moment: Instant? = nil) -> Instant {
        weather.calm(before: moment ?? agenda.now, at: machines.compactMap(\.judge), settling: Checks.holdingBack)
    }

    func isUnsettled(at places: [Weather.Place]) -> Bool {
        weather.isUnsettled(at: agenda.now, by: places, settling: Checks.settling)
    }
}
