// Plays the table of situations: what the network, the worker and the platform do over time, and what must come out. The
// browser module plays the same table (situations.js), and so will every later client.

import Foundation
import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient
@testable import RollcallTesting

/// A row. All times are in seconds.
struct Situation: Decodable, CustomTestStringConvertible {
    let name: String
    /// `new`: the client connects for the first time in the first phase. Otherwise it has been connected for half a minute.
    let starts: String?
    let url: String?
    /// `browser`: only browsers play it. `delaysLong`, `delaysShort`: only one that delays WebSockets after failures, like Firefox
    /// up to a minute, like Chromium up to 5 s.
    let platform: String?
    /// One after the other; each begins with the end of the present connection, unless `upgrade` is absent.
    let phases: [Phase]
    /// What the platform tells the client at the end of the phases, when everything works again.
    let then: [String]?
    /// From then on, the longest time until the client is connected; `null`: it never is.
    let back: Double?
    /// The status of the connection at the end of the phases, with the code of its error.
    let shows: String?
    /// The most handshakes in a minute, also in the last minute of the phases; `requests`: of plain requests in a browser.
    let attempts: Int?
    let atLast: Int?
    /// How often the client reports `failed`.
    let reports: Int?
    /// Timers ring only at multiples of this, in a hidden page; `threads`: whether that may begin threads, whose
    /// timers ring in time; `stale`: how often what it shows becomes stale while it is connected.
    let grid: Double?

    struct Phase: Decodable {
        let `for`: Double
        /// What a handshake is answered with; `plain`, in the row, what a browser reads of a plain request.
        let upgrade: Upgrade?
        /// How the token callback answers: `throws`, `nothing`, `waits`, or `signedOut`.
        let token: String?
        /// `noNetwork`, `network`, `background`, `foreground`; `hidden`, `visible`, `resume`: of a page, which is hidden, is seen
        /// again, or which was suspended; `drain`: the worker stops, and another one is there.
        let tells: [String]?
        /// The process does not run meanwhile, and its connection dies unless it `survives`.
        let slept: Bool?
        let survives: Bool?
    }

    enum Upgrade: Decodable {
        case refused, silent
        case answer(UpgradeRefused)
        /// A WebSocket opens, and its hello is answered with this close code, after a goodbye if there is a reason.
        case close(CloseCode, GoodbyeReason?)

        private struct Answer: Decodable {
            let status, retryAfter: Int?
            let ours: Bool?
            let close: UInt16?
            let reason: String?
        }

        init(from decoder: any Decoder) throws {
            if let word = try? decoder.singleValueContainer().decode(String.self) {
                self = word == "silent" ? .silent : .refused
                return
            }
            let answer = try Answer(from: decoder)
            self =
                answer.close.map { .close(CloseCode(rawValue: $0), answer.reason.map(GoodbyeReason.init)) }
                ?? .answer(
                    UpgradeRefused(status: answer.status ?? 0) {
                        $0 == "Rollcall" ? answer.ours.map { "\($0)" } : answer.retryAfter.map { "\($0)" }
                    })
        }
    }

    var testDescription: String { name }

    static let table: [Situation] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "situations.json")
        return try! JSONDecoder().decode([Situation].self, from: Data(contentsOf: file))
    }()
}

@Suite struct SituationTests {
    private let time = VirtualTime()
    private let world: World
    private let now = NIOLockedValueBox<Situation.Phase?>(nil)
    private let attempts = NIOLockedValueBox<[Duration]>([])

    init() {
        world = World(time, at: Timestamp(milliseconds: 1_784_600_000_000))
        world.isNetwork = true
        world.script = { [world, now] request, wire in
            if case .hello = request.message, case .close(let code, let reason)? = now.withLockedValue({ $0?.upgrade })
            {
                if let reason { wire.tell(.goodbye(.init(reason: reason, reconnect: true, after: 2000))) }
                return world.ended(wire, .closed(code))
            }
            world.answer(request, from: wire)
        }
    }

    @Test(
        "a client is back in time, asks as rarely as it may, and shows why, in each situation of the table",
        arguments: Situation.table.filter { $0.platform == nil })
    func plays(row: Situation) async throws {
        let client = client(of: row)
        let failures = Collected(client.connection)
        let isNew = row.starts == "new"
        time.grid = row.grid.map { .seconds($0) }
        if !isNew {
            client.connect()
            await time.advance(to: time.now + .seconds(30))
        }
        let begin = time.sinceStart
        for (index, phase) in row.phases.enumerated() {
            await begins(phase)
            if phase.slept == true, phase.survives != true {
                await time.perform { [world] in world.sessions.first?.world = nil }
            }
            tell(client, phase.tells)
            if isNew, index == 0 { client.connect() }
            await time.advance(to: time.now)
            if phase.slept == true { time.sleep(for: .seconds(phase.for)) }
            await time.advance(to: phase.slept == true ? time.now : time.now + .seconds(phase.for))
        }
        let end = time.sinceStart
        let tried = attempts.withLockedValue { $0.filter { $0 >= begin && $0 < end } }
        let most = tried.map { at in tried.count { $0 >= at && $0 < at + .seconds(60) } }.max() ?? 0
        let atLast = tried.count { $0 >= end - .seconds(60) }
        let shown = client.connection.latest
        await begins(nil)
        tell(client, row.then)
        var back: Duration?
        await time.advance(to: time.now)
        while time.sinceStart <= end + .seconds(row.back ?? 700) {
            let isAlive = await time.perform { [world] in world.sessions.contains { $0.world != nil } }
            if client.connection.latest.isConnected, isAlive {
                back = time.sinceStart - end
                break
            }
            guard let next = time.next else { break }
            await time.advance(to: next)
        }
        let seconds = back.map { $0 / .seconds(1) }
        print("situation: \(row.name): back \(seconds ?? -1), attempts \(most), at last \(atLast), \(shown.words)")
        #expect((seconds == nil) == (row.back == nil) && seconds ?? 0 <= row.back ?? 0)
        if let shows = row.shows { #expect(shown.words == shows) }
        if let limit = row.attempts { #expect(most <= limit) }
        if let limit = row.atLast { #expect(atLast <= limit) }
        if let reports = row.reports {
            try await eventually("it reports what fails \(reports) times") {
                failures.values.count { if case .failed = $0 { true } else { false } } == reports
            }
        }
    }

    private func client(of row: Situation) -> RollcallClient {
        let token = TokenSource(asking: { [now] answer in
            switch now.withLockedValue({ $0?.token }) {
            case "throws": answer(.failure(TokenUnavailable()))
            case "nothing": answer(.success(""))
            case "signedOut": answer(.failure(RollcallError(.badToken, "signed out")))
            case "waits": break
            default: answer(.success("alice"))
            }
        })
        return RollcallClient(
            urls: [row.url ?? "wss://chat.example"], device: nil, options: ClientOptions(), token: token,
            in: time.environment
        ) { [world, time, attempts] _, owner in
            attempts.withLockedValue { $0.append(time.sinceStart) }
            return FakeWire(of: "alice", to: world, owner: owner)
        }
    }

    /// - Parameter phase: `nil` if everything works.
    private func begins(_ phase: Situation.Phase?) async {
        await time.perform { [world, now] in
            now.withLockedValue { $0 = phase }
            world.listening =
                switch phase?.upgrade {
                case .refused: .refuses
                case .silent: .isSilent
                case .answer(let refusal): .answers(refusal)
                case .close, nil: .accepts
                }
            guard let upgrade = phase?.upgrade else { return }
            if case .close(let code, _) = upgrade { world.endAll(.closed(code)) } else { world.endAll(.lost(nil)) }
        }
    }

    private func tell(_ client: RollcallClient, _ words: [String]?) {
        for word in words ?? [] {
            switch word {
            case "noNetwork", "hidden": break
            case "network": client.networkChanged()
            case "drain":
                client.engine.run { [world] _ in
                    for wire in world.sessions {
                        wire.tell(.goodbye(.init(reason: .draining, reconnect: true, after: 0)))
                    }
                    world.endAll(.closed(.draining))
                }
            case "background": client.setPhase(.background)
            case "foreground": client.setPhase(.active)
            default: Issue.record("unknown word: \(word)")
            }
        }
    }
}

extension ConnectionState {
    fileprivate var words: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .connected: "connected"
        case .waiting(_, let error): "waiting \(error.code.rawValue)"
        case .failed(let error): "failed \(error.code.rawValue)"
        case .closed: "closed"
        }
    }
}
