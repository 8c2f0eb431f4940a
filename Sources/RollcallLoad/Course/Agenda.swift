// What is to happen when. Nothing scheduled waits for an answer: otherwise a slow worker would get fewer requests, and
// a delay that many users noticed would be counted once (coordinated omission).

internal import HeapModule

/// Something that a device is to do.
package struct Cue: Equatable, Sendable {
    package enum Step: UInt8, Sendable {
        case connect, giveUp, cut
        case start, renew, stop
        case lookAway, lookBack, leave
    }

    package var step: Step
    package var device: Int
    /// The device's life (connection) for which this was scheduled, after whose end it is ignored; `nil` for any.
    package var life: UInt32?

    package init(_ step: Step, _ device: Int, life: UInt32? = nil) {
        (self.step, self.device, self.life) = (step, device, life)
    }
}

/// Cues by time; those of the same moment in the order in which they were added.
package struct Agenda {
    private struct Entry: Comparable {
        let due: Moment
        let number: Int
        let cue: Cue

        static func < (left: Entry, right: Entry) -> Bool {
            (left.due, left.number) < (right.due, right.number)
        }

        static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
    }

    private var entries = Heap<Entry>()
    private var noted = 0

    package init() {}

    package var next: Moment? { entries.min?.due }

    package mutating func note(_ cue: Cue, at due: Moment) {
        noted += 1
        entries.insert(Entry(due: due, number: noted, cue: cue))
    }

    /// Removes and returns the next cue that is due by then.
    package mutating func take(by now: Moment) -> (due: Moment, cue: Cue)? {
        guard let first = entries.min, first.due <= now else { return nil }
        entries.removeMin()
        return (first.due, first.cue)
    }
}
