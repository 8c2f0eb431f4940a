// Devices that say what they have to say at the beginning, and from then on only answer pings.

import RollcallLoad

/// Many devices of one stand, each another user's.
final class Guests {
    /// As many handshakes at a time as a server accepts without a queue that overflows.
    private static let atOnce = 200

    private var crowd: Crowd
    private var acknowledged = 0
    private var lost = 0

    init() throws {
        crowd = try Crowd()
    }

    /// Connects them all, and waits until each has heard so many acknowledgements.
    ///
    /// - Parameter saying: what a device says, by its number.
    func gather(_ count: Int, at stand: Stand, acknowledgements: Int, saying: (Int) -> [UInt8]) throws {
        let (first, settled) = (crowd.count, acknowledged)
        var deadline = now() + 10
        var heard = acknowledged
        while acknowledged - settled < count * acknowledgements {
            while crowd.count - first < min(count, (acknowledged - settled) / acknowledgements + Self.atOnce) {
                let number = crowd.count
                _ = try crowd.connect(to: stand.addresses[number % stand.addresses.count])
                crowd.send(saying(number), from: number)
            }
            turn(milliseconds: 100)
            if acknowledged > heard { (heard, deadline) = (acknowledged, now() + 10) }
            guard lost == 0, now() < deadline else {
                throw BenchFailure("\(crowd.count) devices came, \(lost) were lost, \(acknowledged) acknowledgements")
            }
        }
    }

    /// Says something from one device, and waits for its acknowledgement.
    func ask(_ bytes: [UInt8], from number: Int) throws {
        let (before, deadline) = (acknowledged, now() + 10)
        crowd.send(bytes, from: number)
        while acknowledged == before {
            guard now() < deadline else { throw BenchFailure("no acknowledgement in 10 s") }
            turn(milliseconds: 100)
        }
    }

    /// Does nothing but answer pings.
    func rest(seconds: Double) {
        let end = now() + seconds
        while now() < end { turn(milliseconds: 100) }
    }

    /// All crash.
    func leave() {
        for number in 0..<crowd.count { crowd.drop(number) }
    }

    private func turn(milliseconds: Int) {
        var (acknowledged, lost) = (acknowledged, lost)
        crowd.turn(for: .milliseconds(milliseconds)) { _, _, event in
            switch event {
            case .text(let text): if text.starts(with: #"{"id":"#.utf8), text.count < 40 { acknowledged += 1 }
            case .closed: lost += 1
            case .opened: break
            }
        }
        (self.acknowledged, self.lost) = (acknowledged, lost)
    }
}
