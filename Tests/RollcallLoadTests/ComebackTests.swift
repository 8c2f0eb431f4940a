import RollcallClient
import RollcallLoad
import Testing

@Suite("A device comes back")
struct ComebackTests {
    private var chance = Chance(seed: 3)
    private let client = ClientOptions()

    @Test("when the worker said, and where")
    mutating func asked() {
        var comeback = Comeback(to: 2, from: 0)
        let pause = comeback.ended(held: .seconds(1), asked: .milliseconds(1_200), to: 5, using: &chance)
        #expect(pause == .milliseconds(1_200))
        #expect(comeback.address == 5)
        // Nobody is there: then at once where it would have gone without the word.
        #expect(comeback.notReached(using: &chance) == .zero)
        #expect(comeback.address < 2)
    }

    @Test("at the next address at once, until all were tried; then after pauses that grow, with jitter")
    mutating func pauses() {
        var comeback = Comeback(to: 2, from: 1)
        var longest: [Duration] = []
        for _ in 0..<8 {
            #expect(comeback.notReached(using: &chance) == .zero)
            longest.append(comeback.notReached(using: &chance))
        }
        for (round, pause) in longest.enumerated() {
            #expect(pause <= min(client.longestPause, client.firstPause * (1 << round)))
        }
        #expect(longest.contains { $0 > .milliseconds(500) })
    }

    @Test("waits for an answer longer where there is nobody else to ask")
    mutating func patience() {
        #expect(Comeback(to: 1, from: 0).patience == .seconds(10))
        var comeback = Comeback(to: 2, from: 0)
        #expect(comeback.patience == .seconds(2))
        _ = comeback.notReached(using: &chance)
        _ = comeback.notReached(using: &chance)
        #expect(comeback.patience == .seconds(10), "all have failed: the network may be slow")
        comeback.welcomed()
        #expect(comeback.patience == .seconds(2))
    }

    @Test("soon again, once a connection has held")
    mutating func steady() {
        var comeback = Comeback(to: 1, from: 0)
        for _ in 0..<10 { _ = comeback.ended(held: .zero, asked: nil, to: nil, using: &chance) }
        for _ in 0..<50 {
            let pause = comeback.ended(held: .seconds(6), asked: nil, to: nil, using: &chance)
            #expect(pause <= client.firstPause)
        }
    }
}
