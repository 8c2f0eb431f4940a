import RollcallLoad
import Testing

@Suite("The load's agenda")
struct AgendaTests {
    private let start = Moment.now

    @Test("returns events in order of time, and simultaneous ones in the order in which they were added")
    func order() {
        var agenda = Agenda()
        agenda.note(Cue(.stop, 1), at: start + .seconds(2))
        agenda.note(Cue(.start, 1), at: start + .seconds(1))
        for device in 0..<50 { agenda.note(Cue(.renew, device), at: start + .milliseconds(1_500)) }
        #expect(agenda.next == start + .seconds(1))

        var taken: [Cue] = []
        while let (_, cue) = agenda.take(by: start + .seconds(2)) { taken.append(cue) }
        #expect(taken == [Cue(.start, 1)] + (0..<50).map { Cue(.renew, $0) } + [Cue(.stop, 1)])
        #expect(agenda.next == nil)
    }

    @Test("returns nothing early, and later the time at which it was due")
    func due() {
        var agenda = Agenda()
        agenda.note(Cue(.start, 7), at: start + .seconds(1))
        #expect(agenda.take(by: start + .milliseconds(999)) == nil)
        #expect(agenda.take(by: start + .seconds(5))?.due == start + .seconds(1))
    }

    @Test("random events of many devices have the right rate")
    func poisson() {
        var chance = Chance(seed: 7)
        let waits = (0..<20_000).map { _ in chance.wait(mean: .seconds(3)) }
        let mean = waits.reduce(.zero, +) / waits.count
        #expect(mean > .milliseconds(2_900) && mean < .milliseconds(3_100))
        // In an exponential distribution, a part of 1/e is longer than the mean.
        #expect((7_000...7_700).contains(waits.count { $0 > .seconds(3) }))
        #expect(waits.allSatisfy { $0 >= .zero })
    }
}
