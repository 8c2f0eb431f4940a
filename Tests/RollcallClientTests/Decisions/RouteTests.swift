// What follows each way in which a connection can end.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

/// Random numbers from a seed.
func jitter(_ seed: UInt64) -> Jitter {
    let random = NIOLockedValueBox(SeededGenerator(seed: seed))
    return Jitter { random.withLockedValue { $0.next() } }
}

@Suite struct RouteTests {
    private var random = jitter(7)
    private let now = ContinuousClock.now
    private var route = Self.route("wss://home/v1/connect")

    private static func route(_ urls: String...) -> Route {
        var options = ClientOptions()
        options.workerHosts = ["other", "*.fleet.example"]
        var random = jitter(7)
        return try! Route(urls: urls, options, using: &random)
    }

    private mutating func end(_ ending: Ending, held: Duration = .zero, after outage: Duration = .zero) -> Route.Next {
        route.ended(ending, held: held, at: now + outage, using: &random)
    }

    private mutating func pause(
        _ ending: Ending, held: Duration = .zero, after outage: Duration = .zero
    ) throws -> Duration {
        guard case .retry(let pause, _, false, _) = end(ending, held: held, after: outage) else { throw Unexpected() }
        return pause
    }

    private struct Unexpected: Error {}

    @Test(
        "a pause is random, from none to a tenth of the outage, at least to what the welcome names and at most to 30 s",
        arguments: [
            (0, 1500, 1500), (10, 1500, 1500), (75, 1500, 7500), (300, 1500, 30_000), (7200, 1500, 30_000),
            (0, 250, 250), (0, 0, 250), (0, 9000, 9000), (0, 999_000, 30_000),
        ])
    mutating func pauses(outage: Int, floor: Int, most: Int) throws {
        route.welcomed(reconnect: .milliseconds(floor))
        _ = end(.lost(nil), held: .seconds(5))
        let pauses = try (0..<200).map { _ in try pause(.notReached(nil), after: .seconds(outage)) }
        let limit = Duration.milliseconds(most)
        #expect(pauses.allSatisfy { $0 <= limit })
        #expect(pauses.min()! < limit * 0.1 && pauses.max()! > limit * 0.9 && Set(pauses).count > 50)
    }

    @Test("only a connection that lasted begins a new count of the outage, or a reason to try at once")
    mutating func counted() throws {
        _ = end(.lost(nil), held: .seconds(5))
        func longest() throws -> Duration {
            try (0..<100).map { _ in try pause(.lost(nil), held: .seconds(4), after: .seconds(100)) }.max()!
        }
        #expect(try longest() > .seconds(8))
        route.outageBegan(at: now + .seconds(99))
        #expect(try longest() <= .milliseconds(1500))
    }

    @Test("a balancer may lengthen a pause up to 30 s, and only a worker's own wish is kept")
    mutating func asked() throws {
        for (ours, asked, isKept) in [(true, 20, true), (false, 20, false), (false, 3600, false)] {
            let answer = UpgradeRefused(status: 503) { $0 == "Rollcall" ? (ours ? "1" : nil) : "\(asked)" }
            guard case .retry(let pause, isKept, false, _) = end(.notReached(answer)) else { throw Unexpected() }
            #expect(pause >= .seconds(min(asked, 30)) && pause <= .seconds(30))
        }
    }

    /// Each figure is the most attempts in one second of the five before an outage ends, of a thousand clients.
    @Test("the longer an outage lasts, the fewer clients come in each second")
    func herd() {
        var attempts = [Int: Int]()
        for seed in 0..<1000 as Range<UInt64> {
            var (route, random, time) = (Self.route("wss://home"), jitter(seed), Duration.zero)
            while time < .seconds(320) {
                attempts[Int(time / .seconds(1)), default: 0] += 1
                guard
                    case .retry(let pause, _, _, _) = route.ended(
                        .lost(nil), held: .zero, at: now + time, using: &random)
                else { return #expect(Bool(false), "it gives up") }
                time += max(pause, .milliseconds(1))
            }
        }
        for (outage, most) in [(5, 1600), (20, 1300), (75, 380), (300, 110)] {
            let found = (outage..<outage + 5).map { attempts[$0, default: 0] }.max() ?? 0
            #expect(found <= most && found > 0, "after \(outage) s")
        }
    }

    @Test(
        "a token server that fails, and a worker without room, get pauses of at least half a limit that grows to 15 s")
    mutating func considerate() throws {
        let endings: [Ending?] = [
            nil, .closed(.busy), .notReached(UpgradeRefused(status: 429)),
        ]
        for ending in endings {
            route = Self.route("wss://home/v1/connect")
            for failure in 0..<20 {
                let next = ending.map { end($0) } ?? route.tokenFailed(Unexpected(), at: now, using: &random)
                guard case .retry(let pause, _, _, _) = next else { throw Unexpected() }
                let limit = min(Duration.milliseconds(250) * (1 << min(failure, 10)), .seconds(15))
                #expect(pause >= limit / 2 && pause <= limit, "after \(failure) failures")
            }
            // Only a connection that lasted lets them begin anew.
            _ = end(.lost(nil), held: .seconds(5))
            guard case .retry(let pause, _, _, _) = route.tokenFailed(Unexpected(), at: now, using: &random) else {
                throw Unexpected()
            }
            #expect(pause <= .milliseconds(250))
        }
    }

    @Test("an attempt that was short because there are other addresses does not lengthen the next ones")
    mutating func timeouts() {
        var many = Self.route("wss://home", "wss://two")
        // Twice as long each round, until that is no shorter than the app's own limit.
        for limit in [2, 2, 4, 4, 8, 8, 10, 16, 20, 32, 40, 40] {
            #expect(many.timeLimit(atMost: .seconds(10)) == .seconds(limit))
            many.timedOut(atMost: .seconds(10))
            _ = many.ended(.notReached(nil), held: .zero, at: now, using: &random)
        }
        for limit in [10, 20, 40, 40] {
            #expect(route.timeLimit(atMost: .seconds(10)) == .seconds(limit))
            route.timedOut(atMost: .seconds(10))
        }
        #expect(route.timeLimit(atMost: .seconds(60)) == .seconds(60))
    }

    /// With the pauses before, each of the clients asked 1.3 times a second for ever.
    @Test("a hundred clients let an ill token server recover, and one that takes twenty a second lets all in soon")
    func crowd() {
        var waiting = (0..<100 as Range<UInt64>).map { (at: 0.0, route: Self.route("wss://home"), random: jitter($0)) }
        var (asked, taken, last) = ([Int: Int](), [Int: Int](), 0.0)
        while let next = waiting.indices.min(by: { waiting[$0].at < waiting[$1].at }) {
            let second = Int(waiting[next].at)
            asked[second, default: 0] += 1
            if second >= 120, taken[second, default: 0] < 20 {
                taken[second, default: 0] += 1
                last = waiting[next].at
                waiting.remove(at: next)
                continue
            }
            var client = waiting[next]
            guard
                case .retry(let pause, _, _, _) = client.route.tokenFailed(Unexpected(), at: now, using: &client.random)
            else {
                return #expect(Bool(false), "it gives up")
            }
            client.at += max(0.001, pause / .seconds(1))
            waiting[next] = client
        }
        for start in stride(from: 30, to: 120, by: 10) {
            #expect((start..<start + 10).reduce(0) { $0 + asked[$1, default: 0] } < 150, "from \(start) s on")
        }
        #expect(last < 180, "the last is in")
    }

    @Test("a token server says when to ask again, five minutes at most")
    mutating func retryAfter() throws {
        for (asked, least) in [(Duration.seconds(30), Duration.seconds(30)), (.seconds(Int64.max), .seconds(300))] {
            let error = TokenUnavailable(retryAfter: asked)
            guard case .retry(let pause, _, true, _) = route.tokenFailed(error, at: now, using: &random) else {
                throw Unexpected()
            }
            #expect(pause >= least && pause <= min(least + .seconds(1), .seconds(300)))
        }
        guard
            case .retry(let pause, _, true, _) = route.tokenFailed(
                TokenUnavailable(retryAfter: .seconds(-9)), at: now, using: &random)
        else { throw Unexpected() }
        #expect(pause >= .zero && pause <= .seconds(1))
    }

    @Test("pauses of any length that an application sets do not overflow")
    mutating func longestPauses() {
        var backoff = Backoff(first: .seconds(Int64.max), longest: .seconds(Int64.max))
        for _ in 0..<30 {
            let pause = backoff.failed(using: &random)
            #expect(pause <= .seconds(365 * 86_400))
        }
    }

    @Test("only a connection that lasted resets the pauses after refusals")
    mutating func held() throws {
        for least in [60, 120, 240, 300, 300, 60] {
            let held = Duration.seconds(least == 60 ? 5 : 0)
            let next = end(.closed(.badToken, because: "wrong_type: no"), held: held)
            guard case .refused(let error, let pause) = next else { throw Unexpected() }
            #expect(!error.retry && error.message.hasSuffix("(wrong_type: no)"))
            #expect(pause >= .seconds(least) && pause <= .seconds(least) * 1.25)
        }
    }

    @Test("the worker says when and where to reconnect")
    mutating func goodbye() throws {
        route.goodbyeReceived(
            .init(reason: .draining, reconnect: true, after: 1200, to: "wss://other:9/v1/connect"))
        #expect(try pause(.closed(.draining)) == .milliseconds(1200))
        #expect(route.address == WorkerAddress("wss://other:9/v1/connect"))
        #expect(try pause(.notReached(nil)) == .zero, "nothing is known against home")
        #expect(route.address == WorkerAddress("wss://home/v1/connect"), "if nobody is there, home again")
    }

    @Test("the connect timeout is shorter if another address is left")
    mutating func patience() throws {
        #expect(route.timeLimit(atMost: .seconds(10)) == .seconds(10))
        route.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: "wss://other"))
        _ = try pause(.closed(.draining))
        #expect(route.timeLimit(atMost: .seconds(10)) == .seconds(2))
        #expect(route.timeLimit(atMost: .seconds(1)) == .seconds(1))
        _ = try pause(.notReached(nil))
        #expect(route.timeLimit(atMost: .seconds(10)) == .seconds(10))
    }

    @Test("each of several workers is tried at once before there is a pause")
    mutating func severalWorkers() throws {
        route = Self.route("wss://a", "wss://b", "wss://c")
        var tried: Set<WorkerAddress> = []
        var limits: [Duration] = []
        var pauses: [Duration] = []
        for _ in 0..<6 {
            tried.insert(route.address)
            limits.append(route.timeLimit(atMost: .seconds(10)))
            pauses.append(try pause(.notReached(nil)))
        }
        #expect(tried.count == 3)
        #expect(limits == [2, 2, 2, 4, 4, 4].map { .seconds($0) })
        #expect([0, 1, 3, 4].allSatisfy { pauses[$0] == .zero } && pauses[2] > .zero && pauses[5] > .zero)
        route.welcomed(reconnect: .milliseconds(1500))
        #expect(route.timeLimit(atMost: .seconds(10)) == .seconds(2))
    }

    @Test("after a connection ended, the next worker is tried first, since the old one may be down")
    mutating func nextWorker() throws {
        route = Self.route("wss://a", "wss://b")
        let first = route.address
        route.welcomed(reconnect: .milliseconds(1500))
        _ = try pause(.lost(nil))
        #expect(route.address != first)
    }

    @Test("a goodbye with a reason of a later version is followed like any other")
    mutating func laterReason() throws {
        let reason = GoodbyeReason(rawValue: "eclipse")
        route.goodbyeReceived(.init(reason: reason, reconnect: true, after: 70, to: "wss://other"))
        #expect(try pause(.closed(CloseCode(rawValue: 4042))) == .milliseconds(70))
        #expect(route.address == WorkerAddress("wss://other"))
        route.goodbyeReceived(.init(reason: reason, reconnect: false))
        guard case .refused(let error, _) = end(.closed(CloseCode(rawValue: 4042))) else {
            return #expect(Bool(false), "it goes on")
        }
        #expect(error.code == .refused)
    }

    @Test("an excessive delay requested by a worker is limited")
    mutating func absurdWait() throws {
        route.goodbyeReceived(.init(reason: .busy, reconnect: true, after: .max))
        #expect(try pause(.closed(.busy)) == .seconds(300))
        route.goodbyeReceived(.init(reason: .busy, reconnect: true, after: -5))
        #expect(try pause(.closed(.busy)) == .zero)
    }

    @Test(
        "a token is not sent from TLS to plain text, to an invalid address, or to a host that the app did not name",
        arguments: [
            "ws://other", "nowhere", "wss://evil.example", "wss://home.evil.example", "wss://xhome", "wss://an.other",
            "wss://fleet.example", "wss://xfleet.example", "wss://.fleet.example.evil",
        ])
    mutating func untrusted(to: String) throws {
        route.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: ByteString(to)))
        _ = try pause(.closed(.draining))
        #expect(route.address == WorkerAddress("wss://home/v1/connect"))
    }

    @Test(
        "without TLS a token is sent to this machine only, unless the app allows it",
        arguments: [
            ("ws://other", false, false), ("ws://other", true, true), ("ws://127.0.0.1:9/v1/connect", false, true),
        ])
    func plain(to: String, isAllowed: Bool, isFollowed: Bool) throws {
        var options = ClientOptions()
        (options.workerHosts, options.allowsUnencryptedConnections) = (["other", "127.0.0.1"], isAllowed)
        var random = jitter(printedSeed())
        var route = try Route(urls: ["ws://localhost/v1/connect"], options, using: &random)
        let home = route.address
        route.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: ByteString(to)))
        _ = route.ended(.closed(.draining), held: .seconds(60), at: now, using: &random)
        #expect(route.address == (isFollowed ? WorkerAddress(to) : home))
    }

    @Test(
        "a token is sent to another port of one of the app's hosts, and to hosts in a domain that it named",
        arguments: ["wss://HOME:9/v1/connect", "wss://other", "wss://w1.fleet.example", "wss://a.w1.Fleet.example:444"])
    mutating func trusted(to: String) throws {
        route.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: ByteString(to)))
        _ = try pause(.closed(.draining))
        #expect(route.address == WorkerAddress(to))
    }

    @Test("a goodbye without reconnect ends the attempts, even if its close frame was lost")
    mutating func goodbyeForGood() {
        route.goodbyeReceived(.init(reason: .replaced, reconnect: false))
        guard case .giveUp(let error) = end(.lost(nil)) else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == .replaced)
    }

    @Test(
        "a token that no worker takes yet is shown ever more rarely, and every second time another is asked for",
        arguments: [GoodbyeReason.unknownKey, .badSignature, .wrongAudience])
    mutating func refusedForNow(reason: GoodbyeReason) {
        for (round, longest) in [2, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].enumerated() {
            route.goodbyeReceived(.init(reason: reason, reconnect: true, after: 2000))
            guard case .retry(let pause, true, let isFresh, let error) = end(.closed(.busy)) else {
                return #expect(Bool(false), "it gives up")
            }
            #expect(max(.seconds(2), .seconds(longest) / 2) <= pause && pause <= .seconds(longest), "\(pause)")
            #expect(isFresh == !round.isMultiple(of: 2))
            #expect(error.code == .badToken && error.message.contains(reason.rawValue) && error.closeCode == .busy)
        }
        route.welcomed(reconnect: .milliseconds(1500))
        route.goodbyeReceived(.init(reason: reason, reconnect: true, after: 2000))
        guard case .retry(.seconds(2), true, false, _) = end(.closed(.busy)) else {
            return #expect(Bool(false), "not as at first")
        }
    }
}

@Suite struct AddressesTests {
    @Test("clients of the same workers start with different ones, which the random numbers decide")
    func shuffled() throws {
        let firsts = try (0..<2).map { _ in
            try (0..<20 as Range<UInt64>).map { seed in
                var random = jitter(seed)
                return try Route(urls: ["wss://a", "wss://b", "wss://c"], ClientOptions(), using: &random).address
            }
        }
        #expect(Set(firsts[0]).count == 3 && firsts[0] == firsts[1])
    }

    @Test(
        "an invalid URL, one that would send the token in the clear, or no URL at all, is a permanent error",
        arguments: [[], ["wss://a", "http://b"], ["ws://a"]])
    func noURL(urls: [String]) {
        var random = jitter(printedSeed())
        let error = #expect(throws: RollcallError.self) { try Route(urls: urls, ClientOptions(), using: &random) }
        #expect(error?.code == .invalidURL)
    }
}

@Suite struct WorkerAddressTests {
    @Test(
        "a URL is parsed",
        arguments: [
            ("ws://127.0.0.1:8080/v1/connect", false, "127.0.0.1", 8080, "/v1/connect", "127.0.0.1:8080"),
            ("wss://chat.example", true, "chat.example", 443, "/v1/connect", "chat.example"),
            ("WSS://h/p/q?a=b%20c&d", true, "h", 443, "/p/q?a=b%20c&d", "h"),
            ("ws://[::1]:9/x", false, "::1", 9, "/x", "[::1]:9"),
            ("ws://h:80", false, "h", 80, "/v1/connect", "h"),
        ])
    func parts(url: String, isSecure: Bool, host: String, port: Int, target: String, authority: String) throws {
        let address = try #require(WorkerAddress(url))
        #expect(address.isSecure == isSecure)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.target == target)
        #expect(address.authority == authority)
    }

    @Test(
        "others can read the traffic unless it is encrypted or stays on this machine",
        arguments: [
            ("wss://chat.example", true), ("ws://localhost:8080", true), ("ws://LOCALHOST", true),
            ("ws://127.0.0.1", true), ("ws://127.8.9.1:9", true), ("ws://[::1]:9", true),
            ("ws://[0:0:0:0:0:0:0:1]", true), ("ws://chat.example", false), ("ws://10.0.0.5", false),
            ("ws://127.0.0.1.example", false), ("ws://localhost.example", false), ("ws://[fd00::1]", false),
            ("ws://0.0.0.0", false), ("ws://worker", false),
        ])
    func privacy(url: String, isPrivate: Bool) throws {
        #expect(try #require(WorkerAddress(url)).isPrivate == isPrivate)
    }

    @Test(
        "an invalid URL is rejected",
        arguments: [
            "", "h", "http://h", "ws://", "ws:///v1", "ws://h:0", "ws://h:70000", "ws://u:p@h", "ws://h#x", "wss//h",
            "ws://a b",
        ])
    func none(url: String) {
        #expect(WorkerAddress(url) == nil)
    }
}
