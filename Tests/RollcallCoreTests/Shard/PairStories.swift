// Pairs of worlds that differ only in what a hidden user does: whoever may not see them hears the same, in the same order.

import Foundation
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

@Suite("Whom somebody hides from cannot tell what they do") struct PairStories {
    /// How hana is hidden from victor.
    enum Hiding: CaseIterable {
        case sheBlocks, heBlocks, nobody, invisible
        /// No rule lets him ask: his claim names others, or he has none and shares nothing with her.
        case claim, notShared

        /// Whether it ends in the middle.
        var ends: Bool { ![.claim, .notShared].contains(self) }

        var right: WatchRight {
            switch self {
            case .claim: .only(["acme/*", "wanda"])
            case .notShared: .none
            default: .all
            }
        }

        func write(_ begins: Bool) -> PersonWrite? {
            switch self {
            case .sheBlocks: PersonWrite(of: "hana", blocks: ["victor": begins])
            case .heBlocks: PersonWrite(of: "victor", blocks: ["hana": begins])
            case .nobody: PersonWrite(of: "hana", [.presence(begins ? .nobody : nil)])
            case .invisible: PersonWrite(of: "hana", [.availability(begins ? .invisible : nil)])
            case .claim, .notShared: nil
            }
        }
    }

    /// What somebody does at a moment.
    private enum Act: CaseIterable {
        case comes, goes, drops, state, decides, types, enters
        /// Of victor alone.
        case watches, unwatches, asks, joins, leaves
    }

    private static let (shared, other) = ("shared" as ConversationID, "other" as ConversationID)
    private static let hers: [Act] = [.comes, .goes, .drops, .state, .decides, .types, .enters]
    private static let his: [Act] = [
        .watches, .unwatches, .asks, .joins, .leaves, .drops, .goes, .comes, .asks, .watches,
    ]

    /// One world: who is where.
    private final class World {
        let hiding: Hiding
        let workers: Workers
        private var devices: [UserID: [DeviceID: Workers.Client]] = [:]
        /// What victor heard, on which device.
        private(set) var heard: [String] = []
        private(set) var shown: [String: Int] = [:]

        init(_ seed: UInt64, _ hiding: Hiding) {
            self.hiding = hiding
            // Limit: whom he has blocked, a worker does not know of somebody who comes while Redis is away.
            workers = Workers(3, seed: seed, isPaired: true, failing: hiding != .heBlocks)
            let members: [UserID: String] =
                [.claim, .notShared].contains(hiding)
                ? ["victor": "", "wanda": ""] : ["hana": "", "victor": "", "wanda": ""]
            workers.setMembers(members, PairStories.shared)
            workers.setMembers(["hana": "", "wanda": ""], PairStories.other)
            if let write = hiding.write(true) { workers.decide(write) }
        }

        func act(_ act: Act, of user: UserID, with random: inout SeededGenerator) {
            let device: DeviceID = ["phone", "laptop"].randomElement(using: &random) ?? "phone"
            let (worker, choice) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<4, using: &random))
            let client = devices[user]?[device]
            switch act {
            case .comes:
                if client != nil { return }
                devices[user, default: [:]][device] = workers.enter(
                    user, device, on: worker, watch: user == "victor" ? hiding.right : .all)
            case .drops, .goes:
                guard let client else { return }
                if act == .goes { workers.say(.goodbye, on: client) } else { workers.drop(client) }
                take(from: client, of: user)
                devices[user]?[device] = nil
            case .decides:
                var settings: [Person.Setting] = [
                    [.text("lunch")], [.text(nil)], [.lastSeen(.nobody)], [.lastSeen(nil)],
                ][choice]
                // Of the invisible one this stays.
                if hiding != .invisible || user != "hana" { settings.append(.availability(choice < 2 ? .busy : nil)) }
                workers.decide(PersonWrite(of: user, settings))
            case .state: say(.state([.active, .idle, .background, .idle][choice]), client)
            case .types: inConversation(user, client) { .typing($0, choice > 0) }
            case .enters: inConversation(user, client) { choice > 0 ? .enter($0) : .exit($0) }
            case .watches: say(.watch(choice == 0 ? ["hana", "wanda"] : ["hana"]), client)
            case .unwatches: say(.unwatch(choice == 0 ? ["wanda"] : ["hana"]), client)
            case .asks: say(.get(choice == 0 ? ["hana", "nobody", "wanda"] : ["hana"]), client, id: "get")
            case .joins: say(.join(PairStories.shared, presence: choice > 0, here: true), client)
            case .leaves: say(.leave(PairStories.shared), client)
            }
        }

        /// Where victor hears it, only while it is held back.
        private func inConversation(
            _ user: UserID, _ client: Workers.Client?, _ message: (ConversationID) -> ClientMessage
        ) {
            guard let client else { return }
            let conversation = user == "hana" && hiding != .invisible ? PairStories.other : PairStories.shared
            workers.say(.join(conversation, presence: false), on: client)
            workers.say(message(conversation), on: client)
        }

        private func say(_ message: ClientMessage, _ client: Workers.Client?, id: MessageID? = nil) {
            if let client { workers.say(message, id: id, on: client) }
        }

        /// All of hana's devices say goodbye.
        func leaves() {
            for client in devices["hana", default: [:]].values.sorted(by: { $0.worker < $1.worker }) {
                workers.say(.goodbye, on: client)
            }
            devices["hana"] = nil
            let stays: [Person.Setting] = hiding == .invisible ? [] : [.availability(nil)]
            workers.decide(PersonWrite(of: "hana", [.text(nil), .lastSeen(nil)] + stays))
        }

        func returns() { devices["hana"] = ["phone": workers.enter("hana", "phone", on: 0, watch: .all)] }

        /// Notes what victor's devices have heard.
        func take() {
            for (_, client) in devices["victor", default: [:]].sorted(by: { $0.key < $1.key }) {
                take(from: client, of: "victor")
            }
        }

        private func take(from client: Workers.Client, of user: UserID) {
            guard user == "victor" else { return }
            for message in client.heard() {
                // The identifier of a session is random.
                if case .welcome = message { continue }
                heard.append("\(message)")
                guard case .presence(let presences, let id) = message else { continue }
                for presence in presences where presence.user == "hana" {
                    shown[presence.isNeverSeen ? id == nil ? "told" : "got" : "seen", default: 0] += 1
                }
            }
        }
    }

    /// Plays a world.
    ///
    /// - Parameter which: of the pair.
    private func play(_ seed: UInt64, _ hiding: Hiding, which: UInt64) -> (World, acts: [String: Int]) {
        let world = World(seed, hiding)
        world.workers.pass(.seconds(3))
        var (common, hers) = (SeededGenerator(seed: seed &+ 1), SeededGenerator(seed: seed &* 2 &+ which &+ 77))
        var acts: [String: Int] = [:]
        var random = common
        world.act(.comes, of: "victor", with: &common)
        world.act(.comes, of: "wanda", with: &common)
        for moment in 0..<(hiding.ends ? 680 : 400) {
            world.workers.pass(.milliseconds(50))
            world.take()
            random = SeededGenerator(seed: common.next())
            if Int.random(in: 0..<12, using: &random) == 0, let act = Self.his.randomElement(using: &random) {
                world.act(act, of: "victor", with: &random)
            }
            if Int.random(in: 0..<20, using: &random) == 0, let act = Self.hers.randomElement(using: &random) {
                world.act(act, of: "wanda", with: &random)
            }
            random = SeededGenerator(seed: hers.next())
            if moment < 380, Int.random(in: 0..<8, using: &random) == 0,
                let act = Self.hers.randomElement(using: &random)
            {
                acts["\(act)", default: 0] += 1
                world.act(act, of: "hana", with: &random)
            }
            // Then with the same devices, and no longer hidden.
            switch moment {
            case 380: world.leaves()
            case 520: world.returns()
            case 600: if let write = hiding.write(false) { world.workers.decide(write) }
            default: break
            }
        }
        return (world, acts)
    }

    @Test("a pair of worlds in which she does different things sounds the same to him", arguments: Hiding.allCases)
    func pairs(hiding: Hiding) {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["PAIRS"].flatMap { UInt64($0) } ?? 15
        let seeds = environment["SEED"].flatMap { UInt64($0) }.map { $0..<($0 + 1) } ?? 0..<count
        var (acts, shown): ([String: Int], [String: Int]) = ([:], [:])
        for seed in seeds {
            let (one, done) = play(seed, hiding, which: 0)
            let (other, _) = play(seed, hiding, which: 1)
            acts.merge(done, uniquingKeysWith: +)
            shown.merge(one.shown, uniquingKeysWith: +)
            guard one.heard != other.heard else { continue }
            let first = zip(one.heard, other.heard).enumerated().first { $0.element.0 != $0.element.1 }
            Issue.record(
                """
                seed \(seed), message \(first?.offset ?? min(one.heard.count, other.heard.count)):
                \(first?.element.0 ?? "\(one.heard.count) messages")
                \(first?.element.1 ?? "\(other.heard.count) messages")
                """)
            return
        }
        guard seeds.count > 1 else { return }
        for act in Self.hers { #expect(acts["\(act)", default: 0] >= Int(count), "\(act)") }
        for path in ["told", "got"] + (hiding.ends ? ["seen"] : []) {
            #expect(shown[path, default: 0] >= Int(count) / 2, "\(path)")
        }
    }
}

extension PersonWrite {
    fileprivate init(of user: UserID, _ settings: [Person.Setting]) {
        self.init(of: user, settings: PersonPatch(settings).settings)
    }
}
