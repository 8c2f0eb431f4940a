// The workloads. Each name says what it corresponds to in Tests/PROMISES.md, if anything.

import Foundation
import RollcallClient
import RollcallProtocol
import RollcallRedis
import Synchronization
import TestSupport

/// Devices of different users in one conversation, spread over the servers of a stand. Those with odd numbers are on
/// other servers than those with even ones, if there are two.
private final class Room {
    private static let conversation: ConversationID = "room"
    /// The beginning of every typing message of this conversation: fields are in alphabetical order.
    private static let beginning = Array(#"{"conversation":"room","count":"#.utf8)
    private static let frames = [false, true].map { Crowd.frame(.typing(conversation, $0)) }

    private let crowd = Crowd()

    init(_ stand: Stand, people: Int) throws {
        let join = Crowd.frame(.join(Self.conversation, presence: false), id: .integer(1))
        try crowd.gather(people, at: stand.ports, acknowledgements: 1) { _ in join }
        // Skips the first typing message to each device.
        try crowd.rest(seconds: 0.2)
    }

    /// Starts or stops the typing of a device's user.
    func type(_ isTyping: Bool, on device: Int) throws {
        try crowd.send(Self.frames[isTyping ? 1 : 0], from: device)
    }

    /// Takes typing messages until something happens, at most for this time.
    func listen(milliseconds: Int, _ tell: (_ device: Int, _ typing: Int) -> Void = { _, _ in }) throws {
        try crowd.turn(milliseconds: milliseconds) { device, text in
            guard text.starts(with: Self.beginning) else { return }
            let digits = text.dropFirst(Self.beginning.count).prefix { $0 != UInt8(ascii: ",") }
            tell(device, digits.reduce(0) { $0 * 10 + Int($1) - 48 })
        }
    }

    /// Lets one user start and stop, 20 times a second, and returns the latency of each change for each device that
    /// `counts`, from the write to the complete frame, in seconds. With `fromDue`, from when the write was due.
    func latencies(fromDue: Bool = false, to people: Int, while goesOn: (Int) -> Bool) throws -> [Double] {
        var (latencies, number, next) = ([Double](), 0, now())
        while goesOn(number) {
            // Waiting in the kernel may end up to a millisecond late, so the last one is spent in a busy loop.
            while now() < next { try listen(milliseconds: Int((next - now()) * 1_000)) }
            let (isTyping, sent) = (number % 2 == 0, now())
            try type(isTyping, on: 0)
            var left = people / 2
            while left > 0 {
                try listen(milliseconds: 1_000) { device, typing in
                    guard device % 2 == 1, typing == (isTyping ? 1 : 0) else { return }
                    latencies.append(now() - (fromDue ? next : sent))
                    left -= 1
                }
                guard now() < sent + 10 else { throw BenchFailure("a signal did not arrive") }
            }
            (number, next) = (number + 1, next + 0.05)
        }
        return latencies
    }
}

/// The latency that users notice: from the write at one device to the complete frame at others, on another server.
struct Typing: Workload {
    let people: Int
    var name: String { "T11: typing, \(people) people on two servers" }

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side, servers: 2)
        return Talk(stand: stand, room: try Room(stand, people: people), people: people)
    }

    private struct Talk: Measurable {
        let stand: Stand
        let room: Room
        let people: Int

        func measure() throws -> Figures {
            let latencies = try room.latencies(to: people) { $0 < 200 }
            return ["p50, ms": percentile(0.5, of: latencies) * 1e3, "p99, ms": percentile(0.99, of: latencies) * 1e3]
        }
    }
}

/// From a change of a device's state to the presence at an observer on another worker.
struct PresenceChange: Workload {
    let name = "P5: a change of presence, observed on another worker"

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        guard side != .floor else { return nil }
        let stand = try await Stand(side, servers: 2)
        let pair = Crowd()
        try pair.gather(2, at: stand.ports, acknowledgements: 1)
        try pair.ask(.watch(["user0"]), from: 1)
        return Pair(stand: stand, pair: pair)
    }

    private struct Pair: Measurable {
        private static let changes = [(DeviceState.idle, Array("away".utf8)), (.active, Array("online".utf8))]
            .map { (frame: Crowd.frame(.state($0)), status: [UInt8](#""status":""#.utf8) + $1) }

        let stand: Stand
        let pair: Crowd

        func measure() throws -> Figures {
            var latencies: [Double] = []
            for number in 0..<200 {
                let change = Self.changes[number % 2]
                let sent = now()
                var seen: Double?
                try pair.send(change.frame, from: 0)
                try pair.wait(until: { seen != nil }) { device, text in
                    let isNews = Data(text).range(of: Data(change.status)) != nil
                    if device == 1, isNews { seen = now() }
                }
                latencies.append((seen ?? .nan) - sent)
                try pair.rest(seconds: 0.005)
            }
            return ["p50, ms": percentile(0.5, of: latencies) * 1e3, "p99, ms": percentile(0.99, of: latencies) * 1e3]
        }
    }
}

/// The time until the first presence of many users has arrived. The floor reads the records and does not parse them.
struct Fetch: Workload {
    private static let times = 50

    let users: Int
    var name: String { "P6: presence of \(users) at once" }

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let isFloor = side == .floor
        let stand = try await Stand(isFloor ? .worker(program: Bench.own) : side)
        let crowd = Crowd()
        try crowd.gather(users, at: stand.ports, acknowledgements: 1)
        return isFloor
            ? Records(stand: stand, crowd: crowd, users: users) : Watching(stand: stand, crowd: crowd, users: users)
    }

    private struct Records: Measurable {
        let stand: Stand
        let crowd: Crowd
        let users: Int

        func measure() async throws -> Figures {
            let times = try await stand.floor("reads", "--users", "\(users)", "--rounds", "\(Fetch.times)")
            return ["p50, ms": percentile(0.5, of: times) * 1e3, "p99, ms": percentile(0.99, of: times) * 1e3]
        }
    }

    private struct Watching: Measurable {
        let stand: Stand
        let crowd: Crowd
        let users: Int

        func measure() throws -> Figures {
            let names = try (0..<users).map { try UserID("user\($0)") }
            let times = try (0..<Fetch.times).map { _ in
                let start = now()
                try crowd.ask(.watch(names), from: 0)
                let took = now() - start
                try crowd.ask(.unwatch(names), from: 0)
                // The worker unsubscribes in Redis, which is not part of it.
                try crowd.rest(seconds: 0.02)
                return took
            }
            return ["p50, ms": percentile(0.5, of: times) * 1e3, "p99, ms": percentile(0.99, of: times) * 1e3]
        }
    }
}

/// One room in which every signal reaches all users: the processor time of all servers, including Redis.
struct FanOut: Workload {
    let people: Int
    /// How many users start or stop at a time.
    let typists: Int
    var name: String { "fan-out to \(people), \(typists) signal\(typists == 1 ? "" : "s") at a time" }

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side)
        return Hall(
            stand: stand, room: try Room(stand, people: people), people: people, typists: typists,
            isFloor: side == .floor)
    }

    private struct Hall: Measurable {
        let stand: Stand
        let room: Room
        let people: Int
        let typists: Int
        let isFloor: Bool

        func measure() throws -> Figures {
            try burst(true)
            try burst(false)
            let (before, start) = (stand.cost, now())
            var deliveries = 0.0
            while now() < start + 2 {
                for isTyping in [true, false] {
                    try burst(isTyping)
                    deliveries += Double(typists * (people - 1))
                }
            }
            let (took, after) = (now() - start, stand.cost)
            let spent = after.servers + after.redis - before.servers - before.redis
            return ["CPU a delivery, µs": spent / deliveries * 1e6, "time a delivery, µs": took / deliveries * 1e6]
        }

        /// All users see that these start or stop.
        private func burst(_ isTyping: Bool) throws {
            for typist in 0..<typists { try room.type(isTyping, on: typist) }
            let deadline = now() + 5
            var left = typists == 1 ? people - 1 : people
            var (isDone, heard) = ([Bool](repeating: false, count: people), [Int](repeating: 0, count: people))
            while left > 0 {
                try room.listen(milliseconds: 1_000) { device, typing in
                    heard[device] += 1
                    // The floor sends each signal separately; Rollcall the set of typing users, in one or several.
                    let others = device < typists ? typists - 1 : typists
                    let isLast = isFloor ? heard[device] == others : typing == (isTyping ? others : 0)
                    guard !isDone[device], isLast else { return }
                    isDone[device] = true
                    left -= 1
                }
                guard now() < deadline else { throw BenchFailure("\(left) of \(people) did not hear of a signal") }
            }
        }
    }
}

/// As many signals as are taken, from many users in many rooms, each with four in flight. Redis should be the limit; the
/// floor is the same script called from C.
struct Signals: Workload {
    private static let (rooms, count) = (200, 50_000)

    let name = "signals as fast as they are taken"

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side)
        guard side != .floor else { return Pipeline(stand: stand) }
        return try Self.senders(at: stand, inFlight: 4) { [.typing($0, true)] }
    }

    /// Devices, each in a room of its own, that send these messages in turn.
    static func senders(
        at stand: Stand, inFlight: Int, _ messages: (ConversationID) -> [ClientMessage]
    ) throws -> any Measurable {
        let rooms = try (0..<Self.rooms).map { try ConversationID("room\($0)") }
        let crowd = Crowd()
        try crowd.gather(rooms.count, at: stand.ports, acknowledgements: 1) { number in
            Crowd.frame(.join(rooms[number], presence: false), id: .integer(1))
        }
        let frames = rooms.map { messages($0).map { Crowd.frame($0, id: .integer(2)) } }
        return Senders(stand: stand, crowd: crowd, inFlight: inFlight, frames: frames)
    }

    private struct Pipeline: Measurable {
        let stand: Stand

        func measure() async throws -> Figures {
            let script = stand.redis.folder.appending(path: "typing_signal.lua")
            guard let source = Script.all.first(where: { $0.name == "typing_signal" })?.source else {
                throw BenchFailure("there is no script of that name")
            }
            try source.write(to: script, atomically: true, encoding: .utf8)
            let before = stand.cost
            let seconds = try await stand.floor(
                "scripts", "--script", script.path, "--rooms", "\(Signals.rooms)", "--count", "\(Signals.count)")
            return Signals.figures(seconds[0], stand, before)
        }
    }

    private struct Senders: Measurable {
        let stand: Stand
        let crowd: Crowd
        let inFlight: Int
        let frames: [[[UInt8]]]

        func measure() throws -> Figures {
            let (start, before, first) = (now(), stand.cost, crowd.acknowledgements)
            var (sent, turns) = (0, [Int](repeating: 0, count: frames.count))
            func send(from number: Int) throws {
                guard sent < Signals.count else { return }
                sent += 1
                try crowd.send(frames[number][turns[number] % frames[number].count], from: number)
                turns[number] += 1
            }
            // Each acknowledgement triggers the next message.
            crowd.onAcknowledgement = send
            for number in 0..<inFlight * frames.count { try send(from: number % frames.count) }
            try crowd.wait(until: { crowd.acknowledgements - first == Signals.count })
            crowd.onAcknowledgement = nil
            return Signals.figures(now() - start, stand, before)
        }
    }

    private static func figures(_ seconds: Double, _ stand: Stand, _ before: (servers: Double, redis: Double))
        -> Figures
    {
        let each = 1e6 / Double(count)
        return [
            "time each, µs": seconds * each, "CPU of Redis each, µs": (stand.cost.redis - before.redis) * each,
            "CPU of the worker each, µs": (stand.cost.servers - before.servers) * each,
        ]
    }
}

/// Users who come and go, each in a room of their own, as fast as each is acknowledged.
struct Entering: Workload {
    let name = "an enter or an exit, as fast as they are taken"

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        guard side != .floor else { return nil }
        return try Signals.senders(at: try await Stand(side), inFlight: 1) { [.enter($0), .exit($0)] }
    }
}

/// A room that very many have open, with the default settings: a hundred a second go, and come back a second later.
struct CrowdedRoom: Workload {
    private static let room: ConversationID = "room"

    let people: Int
    var name: String { "\(people) in one room, 100 a second come and go" }

    func prepare(_ side: Stand.Side) -> (any Measurable)? {
        side == .floor ? nil : Hall(side: side, people: people)
    }

    private struct Hall: Measurable {
        let side: Stand.Side
        let people: Int

        func measure() async throws -> Figures {
            let stand = try await Stand(side, settings: ["log.level": "warning", "edge.ping": "600s"])
            let (crowd, join) = (Crowd(), Crowd.frame(.join(room, presence: false), id: .integer(1)))
            let (enter, exit) = (Crowd.frame(.enter(room), id: .integer(1)), Crowd.frame(.exit(room)))
            try crowd.gather(people, at: stand.ports, acknowledgements: 1) { _ in join }
            try crowd.rest(seconds: 3)
            let (memory, first) = (stand.memory, crowd.acknowledgements)
            let follow = Crowd.frame(.join(room, presence: false, here: true))
            for number in 0..<people { try crowd.send(follow + enter, from: number) }
            try crowd.wait(until: { crowd.acknowledgements == first + people })
            try crowd.rest(seconds: 6)
            let (each, before, start) = ((stand.memory - memory) / Double(people) / 1_024, stand.cost, now())
            var (bytes, changes) = (0, 0)
            while now() < start + 20 {
                let due = start + Double(changes) * 0.01
                try crowd.turn(milliseconds: max(0, Int((due - now()) * 1_000))) { bytes += $1.count }
                guard now() >= due else { continue }
                try crowd.send(exit, from: changes % people)
                if changes >= 100 { try crowd.send(enter, from: (changes - 100) % people) }
                changes += 1
            }
            let (took, after) = (now() - start, stand.cost)
            return [
                "memory an entry, KiB": each, "bytes a second to each": Double(bytes) / took / Double(people),
                "% of a core, worker": (after.servers - before.servers) / took * 100,
                "% of a core, Redis": (after.redis - before.redis) / took * 100,
            ]
        }
    }
}

/// Devices that are connected and do nothing, with the default settings: each watches 20 random users and has joined two
/// conversations of ten. Prepared for each round: one process cannot open as many files as all sides have devices.
struct Idle: Workload {
    let devices: Int
    var name: String { "\(devices) idle devices" }

    func prepare(_ side: Stand.Side) -> (any Measurable)? { Pockets(side: side, devices: devices) }

    private struct Pockets: Measurable {
        let side: Stand.Side
        let devices: Int

        func measure() async throws -> Figures {
            let stand = try await Stand(side, settings: ["log.level": "warning"], ping: 10_000)
            let (memory, crowd) = (stand.memory, Crowd())
            try crowd.gather(devices, at: stand.ports, acknowledgements: 2) { number in
                var chance = SeededGenerator(seed: UInt64(number))
                let watched = (0..<20).compactMap { _ in
                    try? UserID("user\(Int.random(in: 0..<devices, using: &chance))")
                }
                let rooms = ["near\(number / 10)", "far\(number % (devices / 10))"].compactMap {
                    try? ConversationID($0)
                }
                return Crowd.frame(.watch(watched))
                    + rooms.flatMap { Crowd.frame(.join($0, presence: false), id: .integer(1)) }
            }
            try crowd.rest(seconds: 3)
            let each = (stand.memory - memory) / Double(devices) / 1_024
            let (before, writes) = (stand.cost.servers, try await stand.redisWrites())
            try crowd.rest(seconds: 10)
            let spent = stand.cost.servers - before
            return [
                "memory each, KiB": each, "% of a core": spent / 10 * 100,
                "writes to Redis a second": (try await stand.redisWrites() - writes) / 10,
            ]
        }
    }
}

/// All devices connect at once, for example after a deployment: the cost of each connection, and what users notice who
/// are already there and type.
struct Storm: Workload {
    let devices: Int
    var name: String { "a storm of \(devices) connections" }

    func prepare(_ side: Stand.Side) -> (any Measurable)? {
        side == .floor ? nil : Flood(side: side, devices: devices)
    }

    private struct Flood: Measurable {
        let side: Stand.Side
        let devices: Int

        func measure() async throws -> Figures {
            let stand = try await Stand(side)
            let isOver = Flag()
            async let latencies = Self.witness(stand, until: isOver)
            try await Task.sleep(for: .milliseconds(500))
            let (start, before, crowd) = (now(), stand.cost.servers, Crowd())
            try crowd.gather(devices, at: stand.ports, name: "guest", acknowledgements: 1)
            let (took, spent) = (now() - start, stand.cost.servers - before)
            isOver.value.store(true, ordering: .relaxed)
            let typing = try await latencies
            // The end of these connections would be another storm.
            withExtendedLifetime(crowd) {}
            return [
                "CPU each, ms": spent / Double(devices) * 1e3, "time each, ms": took / Double(devices) * 1e3,
                "p99 of typing meanwhile, ms": percentile(0.99, of: typing) * 1e3,
            ]
        }

        /// Two users who type to each other, on a thread of their own. Latency counts from when a signal was due, so that
        /// a late one does not hide that of the next.
        private static func witness(_ stand: Stand, until isOver: Flag) async throws -> [Double] {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            try Room(stand, people: 2).latencies(fromDue: true, to: 2) { _ in
                                !isOver.value.load(ordering: .relaxed)
                            }
                        })
                }
            }
        }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
