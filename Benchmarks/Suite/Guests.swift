// Devices that send messages only at the beginning, and then only answer pings.

import RollcallLoad

/// Many devices at one stand, each of another user.
final class Guests {
    /// How many handshakes to run at a time: as many as a server accepts without overflowing a queue.
    private static let atOnce = 200

    private var crowd: Crowd
    private var acknowledged = 0
    private var lost = 0

    init() throws {
        crowd = try Crowd()
    }

    /// Connects the devices, and waits until each has received this many acknowledgements.
    ///
    /// - Parameter saying: returns what a device sends, by its number.
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

    /// Sends a message from one device, and waits for its acknowledgement.
    func ask(_ bytes: [UInt8], from number: Int) throws {
        let (before, deadline) = (acknowledged, now() + 10)
        crowd.send(bytes, from: number)
        while acknowledged == before {
            guard now() < deadline else { throw BenchFailure("no acknowledgement in 10 s") }
            turn(milliseconds: 100)
        }
    }

    /// Only answers pings for this time.
    func rest(seconds: Double) {
        let end = now() + seconds
        while now() < end { turn(milliseconds: 100) }
    }

    /// Ends all connections without a close frame.
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
