import RollcallClient
import RollcallLoad
import Testing

@Suite("A device reconnects")
struct ComebackTests {
    private var chance = Chance(seed: 3)
    private let client = ClientOptions()

    @Test("when and where the worker said")
    mutating func asked() {
        var comeback = Comeback(to: 2, from: 0)
        let pause = comeback.ended(held: .seconds(1), asked: .milliseconds(1_200), to: 5, using: &chance)
        #expect(pause == .milliseconds(1_200))
        #expect(comeback.address == 5)
        // Without an answer there, it connects at once to the address that it would have used otherwise.
        #expect(comeback.notReached(using: &chance) == .zero)
        #expect(comeback.address < 2)
    }

    @Test("to the next address at once, until all were tried; then after growing pauses with jitter")
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

    @Test("with a longer timeout if there is no other address")
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

    @Test("soon again, once a connection has lasted")
    mutating func steady() {
        var comeback = Comeback(to: 1, from: 0)
        for _ in 0..<10 { _ = comeback.ended(held: .zero, asked: nil, to: nil, using: &chance) }
        for _ in 0..<50 {
            let pause = comeback.ended(held: .seconds(6), asked: nil, to: nil, using: &chance)
            #expect(pause <= client.firstPause)
        }
    }
}
