// What follows each way in which a connection can end.

import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct ReconnectingTests {
    private var random = SeededGenerator(seed: 7)
    private var reconnecting = Self.reconnecting("wss://home/v1/connect")

    private static func reconnecting(_ urls: String...) -> Reconnecting {
        var random = SeededGenerator(seed: 7)
        return Reconnecting(
            Itinerary(urls, using: &random)!, allowing: ["other", "*.fleet.example"],
            backoff: Backoff(first: .milliseconds(250), longest: .milliseconds(1500)))
    }

    private mutating func end(
        _ ending: Ending, held: Duration = .zero, tokenAge: Duration = .zero
    ) -> Reconnecting.Next {
        reconnecting.ended(ending, held: held, tokenAge: tokenAge, using: &random)
    }

    private mutating func pause(_ ending: Ending, held: Duration = .zero) throws -> Duration {
        guard case .retry(let pause, false, _) = end(ending, held: held) else { throw Unexpected() }
        return pause
    }

    private struct Unexpected: Error {}

    @Test("temporary failures are retried forever, with pauses that grow up to a limit")
    mutating func backoff() throws {
        var longest = Duration.zero
        for attempt in 0..<200 {
            let pause = try pause(attempt % 2 == 0 ? .lost(nil) : .notReached(nil))
            #expect(pause <= min(.milliseconds(250) * (1 << min(attempt, 10)), .milliseconds(1500)))
            longest = max(longest, pause)
        }
        #expect(longest > .milliseconds(1200), "full jitter reaches its ceiling")
    }

    @Test("pauses have full jitter, so that the clients of a failed worker do not reconnect in step")
    func jitter() {
        var pauses: Set<Duration> = []
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var backoff = Backoff(first: .milliseconds(250), longest: .seconds(2))
            pauses.insert(backoff.failed(using: &random))
        }
        #expect(pauses.count > 100)
        #expect(pauses.min()! < .milliseconds(25) && pauses.max()! > .milliseconds(225))
    }

    @Test("pauses of any length that an application sets do not overflow")
    mutating func longestPauses() {
        var backoff = Backoff(first: .seconds(Int64.max), longest: .seconds(Int64.max))
        for _ in 0..<30 {
            let pause = backoff.failed(using: &random)
            #expect(pause <= .seconds(365 * 86_400))
        }
    }

    @Test("only a connection that lasted resets the pauses")
    mutating func held() throws {
        for _ in 0..<20 { _ = try pause(.lost(nil), held: .milliseconds(10)) }
        #expect(try (0..<20).map { _ in try pause(.lost(nil), held: .milliseconds(10)) }.max()! > .milliseconds(250))
        for _ in 0..<20 { #expect(try pause(.lost(nil), held: .seconds(5)) <= .milliseconds(250)) }
    }

    @Test("the worker says when and where to reconnect")
    mutating func goodbye() throws {
        reconnecting.goodbyeReceived(
            .init(reason: .draining, reconnect: true, after: 1200, to: "wss://other:9/v1/connect"))
        #expect(try pause(.closed(.draining)) == .milliseconds(1200))
        #expect(reconnecting.address == WorkerAddress("wss://other:9/v1/connect"))
        #expect(try pause(.notReached(nil)) == .zero, "nothing is known against home")
        #expect(reconnecting.address == WorkerAddress("wss://home/v1/connect"), "if nobody is there, home again")
    }

    @Test("the connect timeout is shorter if another address is left")
    mutating func patience() throws {
        #expect(reconnecting.timeLimit(atMost: .seconds(10)) == .seconds(10))
        reconnecting.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: "wss://other"))
        _ = try pause(.closed(.draining))
        #expect(reconnecting.timeLimit(atMost: .seconds(10)) == Itinerary<WorkerAddress>.patience)
        #expect(reconnecting.timeLimit(atMost: .seconds(1)) == .seconds(1))
        _ = try pause(.notReached(nil))
        #expect(reconnecting.timeLimit(atMost: .seconds(10)) == .seconds(10))
    }

    @Test("each of several workers is tried at once before there is a pause")
    mutating func severalWorkers() throws {
        reconnecting = Self.reconnecting("wss://a", "wss://b", "wss://c")
        var tried: Set<WorkerAddress> = []
        var limits: [Duration] = []
        var pauses: [Duration] = []
        for _ in 0..<6 {
            tried.insert(reconnecting.address)
            limits.append(reconnecting.timeLimit(atMost: .seconds(10)))
            pauses.append(try pause(.notReached(nil)))
        }
        #expect(tried.count == 3)
        #expect(limits == [.seconds(2), .seconds(2)] + Array(repeating: .seconds(10), count: 4))
        #expect([0, 1, 3, 4].allSatisfy { pauses[$0] == .zero } && pauses[2] > .zero && pauses[5] > .zero)
        reconnecting.welcomed()
        #expect(reconnecting.timeLimit(atMost: .seconds(10)) == .seconds(2))
    }

    @Test("after a connection ended, the next worker is tried first, since the old one may be down")
    mutating func nextWorker() throws {
        reconnecting = Self.reconnecting("wss://a", "wss://b")
        let first = reconnecting.address
        reconnecting.welcomed()
        _ = try pause(.lost(nil))
        #expect(reconnecting.address != first)
    }

    @Test("a goodbye with a reason of a later version is followed like any other")
    mutating func laterReason() throws {
        let reason = GoodbyeReason(rawValue: "eclipse")
        reconnecting.goodbyeReceived(.init(reason: reason, reconnect: true, after: 70, to: "wss://other"))
        #expect(try pause(.closed(CloseCode(rawValue: 4042))) == .milliseconds(70))
        #expect(reconnecting.address == WorkerAddress("wss://other"))
        reconnecting.goodbyeReceived(.init(reason: reason, reconnect: false))
        guard case .giveUp(let error) = end(.closed(CloseCode(rawValue: 4042))) else {
            return #expect(Bool(false), "it goes on")
        }
        #expect(error.code == .refused)
    }

    @Test("an excessive delay requested by a worker is limited")
    mutating func absurdWait() throws {
        reconnecting.goodbyeReceived(.init(reason: .busy, reconnect: true, after: .max))
        #expect(try pause(.closed(.busy)) == Backoff.longestWait)
        reconnecting.goodbyeReceived(.init(reason: .busy, reconnect: true, after: -5))
        #expect(try pause(.closed(.busy)) == .zero)
    }

    @Test(
        "a token is not sent from TLS to plain text, to an invalid address, or to a host that the app did not name",
        arguments: [
            "ws://other", "nowhere", "wss://evil.example", "wss://home.evil.example", "wss://xhome", "wss://an.other",
            "wss://fleet.example", "wss://xfleet.example", "wss://.fleet.example.evil",
        ])
    mutating func untrusted(to: String) throws {
        reconnecting.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: to))
        _ = try pause(.closed(.draining))
        #expect(reconnecting.address == WorkerAddress("wss://home/v1/connect"))
    }

    @Test(
        "without TLS a token is sent to this machine only, unless the app allows it",
        arguments: [
            ("ws://other", false, false), ("ws://other", true, true), ("ws://127.0.0.1:9/v1/connect", false, true),
        ])
    func plain(to: String, isAllowed: Bool, isFollowed: Bool) throws {
        let home = try #require(WorkerAddress("ws://localhost/v1/connect"))
        var random = SeededGenerator(seed: printedSeed())
        var reconnecting = Reconnecting(
            Itinerary([home]), allowing: ["other", "127.0.0.1"], allowsUnencrypted: isAllowed,
            backoff: Backoff(first: .seconds(1), longest: .seconds(1)))
        reconnecting.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: to))
        _ = reconnecting.ended(.closed(.draining), held: .seconds(60), tokenAge: .zero, using: &random)
        #expect(reconnecting.address == (isFollowed ? WorkerAddress(to) : home))
    }

    @Test(
        "a token is sent to another port of one of the app's hosts, and to hosts in a domain that it named",
        arguments: ["wss://HOME:9/v1/connect", "wss://other", "wss://w1.fleet.example", "wss://a.w1.Fleet.example:444"])
    mutating func trusted(to: String) throws {
        reconnecting.goodbyeReceived(.init(reason: .draining, reconnect: true, after: 0, to: to))
        _ = try pause(.closed(.draining))
        #expect(reconnecting.address == WorkerAddress(to))
    }

    @Test(
        "codes from 4100 to 4199 end the attempts",
        arguments: [
            (.badToken, .badToken), (.badMessage, .protocolError), (.tooManyMessages, .tooManyMessages),
            (.replaced, .replaced), (.tooManySessions, .tooManySessions), (.sentAway, .sentAway),
            (CloseCode(rawValue: 4150), .refused),
        ] as [(CloseCode, RollcallError.Code)])
    mutating func mistakes(closed: CloseCode, code: RollcallError.Code) {
        guard case .giveUp(let error) = end(.closed(closed)) else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == code)
        #expect(error.closeCode == closed)
        #expect(!error.retry)
    }

    @Test(
        "any other code is a temporary failure",
        arguments: [CloseCode.normal, .tooBig, .draining, .tooSlow, .busy, .late, CloseCode(rawValue: 4200)])
    mutating func weather(code: CloseCode) throws {
        _ = try pause(.closed(code))
    }

    @Test("a goodbye without reconnect ends the attempts, even if its close frame was lost")
    mutating func goodbyeForGood() {
        reconnecting.goodbyeReceived(.init(reason: .replaced, reconnect: false))
        guard case .giveUp(let error) = end(.lost(nil)) else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == .replaced)
    }

    @Test("an expired token is replaced at once, one time; a welcome permits the next time")
    mutating func tokenExpired() {
        func isFresh(_ next: Reconnecting.Next) -> Bool {
            if case .retry(.zero, true, _) = next { true } else { false }
        }
        #expect(isFresh(end(.closed(.tokenExpired))))
        guard case .giveUp(let error) = end(.closed(.tokenExpired)) else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == .tokenExpired)
        reconnecting.welcomed()
        #expect(isFresh(end(.closed(.tokenExpired))))
    }

    @Test("a new token that expired while it had to wait does not end the attempts")
    mutating func tokenExpiredWhileWaiting() throws {
        guard case .retry(.zero, true, _) = end(.closed(.tokenExpired)) else { throw Unexpected() }
        for _ in 0..<10 { _ = try pause(.notReached(nil)) }
        guard case .retry(.zero, true, _) = end(.closed(.tokenExpired), tokenAge: .seconds(7200)) else {
            return #expect(Bool(false), "it gives up")
        }
        guard case .giveUp(let error) = end(.closed(.tokenExpired), tokenAge: .seconds(5)) else {
            return #expect(Bool(false), "it goes on")
        }
        #expect(error.code == .tokenExpired)
    }

    @Test("a token callback that throws is a temporary failure, unless it says otherwise")
    mutating func tokenFailed() {
        guard case .retry(_, true, let reason) = reconnecting.tokenFailed(Unexpected(), using: &random) else {
            return #expect(Bool(false), "it gives up")
        }
        #expect(reason.code == .tokenUnavailable)
        let mistake = RollcallError(.badToken, "signed out")
        #expect(reconnecting.tokenFailed(mistake, using: &random) == .giveUp(mistake))
    }
}

@Suite struct ItineraryTests {
    @Test("clients of the same workers start with different ones")
    func shuffled() {
        let first = (0..<20 as Range<UInt64>).map { seed in
            var random = SeededGenerator(seed: seed)
            return Itinerary(["ws://a", "ws://b", "ws://c"], using: &random)?.address
        }
        #expect(Set(first).count == 3)
    }

    @Test("an invalid URL, or no URL at all, is a permanent error", arguments: [[], ["ws://a", "http://b"]])
    func noURL(urls: [String]) {
        var random = SeededGenerator(seed: printedSeed())
        #expect(Itinerary(urls, using: &random) == nil)
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
