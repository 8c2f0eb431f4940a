// The values behind the check of a loop: the loop's time, the order of pings, and how many frames a client may send.

import NIOCore
import TestSupport
import Testing

@testable import RollcallServer

@Suite("The loop's time")
struct AwakeClockTests {
    @Test("advances with the clock while the loop is running")
    func awake() {
        var clock = AwakeClock(interval: .milliseconds(100), at: .uptimeNanoseconds(0))
        let judged = (1...10).filter { clock.checked(at: .uptimeNanoseconds(UInt64($0) * 105_000_000)) }
        #expect(judged.count == 10)
        #expect(clock.awake == .milliseconds(1050))
    }

    @Test("does not count suspension, and permits no decision until the loop had a tick to read")
    func asleep() {
        var clock = AwakeClock(interval: .milliseconds(100), at: .uptimeNanoseconds(0))
        let hour: UInt64 = 3_600_000_000_000
        let judged = [hour, hour + 100_000_000].map { clock.checked(at: .uptimeNanoseconds($0)) }
        #expect(judged == [false, true])
        #expect(clock.awake == .milliseconds(200))
    }

    @Test("continues when every tick is late")
    func overloaded() {
        var clock = AwakeClock(interval: .milliseconds(100), at: .uptimeNanoseconds(0))
        let judged = (1...10).filter { clock.checked(at: .uptimeNanoseconds(UInt64($0) * 1_000_000_000)) }
        #expect(judged.count == 5)
        #expect(clock.awake == .seconds(1))
    }
}

@Suite("The ping rota")
struct PingRotaTests {
    final class Member: RotaMember {
        var place: RotaPlace?
        var turns = 0
    }

    private func pass(_ rota: inout PingRota<Member>, checks: Int) -> [Int] {
        (0..<checks).map { _ in
            let turn = rota.turn()
            turn.forEach { $0.turns += 1 }
            return turn.count
        }
    }

    @Test("gives each connection one turn per period, evenly spread")
    func evenly() {
        var rota = PingRota<Member>(bands: 10)
        let members = (0..<25).map { _ in Member() }
        members.forEach { rota.join($0) }
        let sizes = pass(&rota, checks: 10)
        #expect(sizes.max() == 3 && sizes.min() == 2)
        #expect(members.allSatisfy { $0.turns == 1 })
    }

    @Test("loses no connection and keeps none as they come and go at random")
    func comingAndGoing() {
        let seed = printedSeed()
        var numbers = SeededGenerator(seed: seed)
        var rota = PingRota<Member>(bands: 7)
        var present: [Member] = []
        var gone: [Member] = []
        for _ in 0..<2000 {
            if Bool.random(using: &numbers) || present.isEmpty {
                present.append(Member())
                rota.join(present[present.count - 1])
            } else {
                let member = present.remove(at: Int.random(in: present.indices, using: &numbers))
                rota.leave(member)
                rota.leave(member)
                gone.append(member)
            }
            if Int.random(in: 0..<10, using: &numbers) == 0 { _ = rota.turn() }
        }
        _ = pass(&rota, checks: 7)
        #expect(present.allSatisfy { $0.turns == 1 } && gone.allSatisfy { $0.turns == 0 }, "seed \(seed)")
        #expect(Set(rota.members.map(ObjectIdentifier.init)) == Set(present.map(ObjectIdentifier.init)), "seed \(seed)")
    }
}

@Suite("Frames that complete no message")
struct FrameAllowanceTests {
    @Test("are limited per second")
    func rate() {
        var allowance = FrameAllowance()
        for awake in [Duration.milliseconds(900), .milliseconds(1000)] {
            let frames = (0..<65_535).filter { _ in allowance.take(at: awake) }
            #expect(frames.count == Int(FrameAllowance.frames))
        }
    }
}
