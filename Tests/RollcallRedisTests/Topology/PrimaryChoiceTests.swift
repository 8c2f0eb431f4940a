import NIOCore
import Testing

@testable import RollcallRedis

@Suite struct PrimaryChoiceTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let old = RedisLocation.Address.host("10.0.0.1", port: 6379)
    private let new = RedisLocation.Address.host("10.0.0.2", port: 6379)

    private func word(_ primary: RedisLocation.Address, _ epoch: Int) -> SentinelWord {
        SentinelWord(primary: primary, epoch: epoch, others: 2)
    }

    @Test func `nobody says anything, and nothing is chosen`() {
        var choice = PrimaryChoice()
        #expect(choice.choice(at: Self.start) == nil)
        choice.heard(word(old, 1), from: "s1", at: Self.start)
        choice.lost("s1", at: Self.start)
        #expect(choice.choice(at: Self.start) == nil)
    }

    @Test(arguments: [["s1", "s2", "s3"], ["s3", "s2", "s1"], ["s2", "s3", "s1"]])
    func `the newest failover decides, and neither who is first nor how many there are`(order: [String]) {
        let words = ["s1": word(old, 4), "s2": word(new, 5), "s3": word(old, 4)]
        var choice = PrimaryChoice()
        for sentinel in order { choice.heard(words[sentinel]!, from: sentinel, at: Self.start) }
        #expect(choice.choice(at: Self.start) == word(new, 5))
    }

    @Test func `of one number, most decide, and then what was believed`() {
        var choice = PrimaryChoice()
        for (sentinel, primary) in [("s1", new), ("s2", old), ("s3", new)] {
            choice.heard(word(primary, 0), from: sentinel, at: Self.start)
        }
        #expect(choice.choice(at: Self.start)?.primary == new)
        choice.lost("s3", at: Self.start)
        for primary in [old, new] {
            choice.believe(word(primary, 0))
            #expect(choice.choice(at: Self.start)?.primary == primary)
        }
    }

    @Test func `a few that know of older failovers only are never believed, however long they say so`() {
        var choice = PrimaryChoice()
        choice.believe(word(new, 5))
        for seconds in 0..<100 {
            let now = Self.start + .seconds(Int64(seconds))
            choice.heard(word(old, 4), from: "s1", at: now)
            #expect(choice.choice(at: now) == word(new, 5))
            // This sentinel has lost the others (SENTINEL RESET).
            choice.heard(SentinelWord(primary: old, epoch: 4), from: "s1", at: now)
            #expect(choice.choice(at: now) == word(new, 5))
        }
    }

    @Test func `nor are many while somebody knows of the newer`() {
        var choice = PrimaryChoice()
        choice.believe(word(new, 5))
        for seconds in 0..<100 {
            let now = Self.start + .seconds(Int64(seconds))
            for sentinel in ["s1", "s2"] { choice.heard(word(old, 4), from: sentinel, at: now) }
            // The sentinel is silent from time to time.
            if seconds % 9 == 0 { choice.heard(word(new, 5), from: "s3", at: now) }
            if seconds % 9 == 1 { choice.lost("s3", at: now) }
            #expect(choice.choice(at: now) == word(new, 5), "after \(seconds) s")
        }
    }

    @Test func `where a majority keeps to lower numbers, these were begun anew`() {
        var choice = PrimaryChoice()
        choice.believe(word(old, 5))
        let end = Self.start + PrimaryChoice.renumbering
        for now in [Self.start, end - .seconds(1), end] {
            for sentinel in ["s1", "s2"] { choice.heard(word(new, 0), from: sentinel, at: now) }
            if let choice = choice.choice(at: now) { #expect(choice == (now < end ? word(old, 5) : word(new, 0))) }
            // While a connection uses a primary, it reports that primary again.
            if now < end { choice.believe(word(old, 5)) }
        }
        choice.believe(word(new, 0))
        choice.heard(word(new, 1), from: "s1", at: end)
        #expect(choice.choice(at: end) == word(new, 1))
    }
}
