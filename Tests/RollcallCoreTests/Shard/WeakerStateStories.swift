import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// When a worker writes weaker states (idle, background, in grace) again after an outage.
@Suite struct WeakerStateStories {
    @Test(
        "a device back before Redis accepts writes never goes offline when the grace of its old session ends meanwhile",
        arguments: [true, false], [DeviceState.idle, .active])
    func backDuringAnOutage(leaseStands: Bool, state: DeviceState) {
        var settings = ShardSettings.uncoalesced
        if leaseStands { settings.grace = .seconds(2) }
        let stage = Stage(settings)
        let (bob, phone) = (stage.enter("bob"), stage.enter("alice", state: state))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisRefusesWrites()
        stage.drop(phone)
        stage.settle()
        stage.pass(.milliseconds(500), answering: false)
        _ = stage.enter("alice", state: state)
        stage.settle()
        stage.pass(settings.grace + .seconds(1), answering: false)
        stage.settle()
        stage.redisTakesWrites(leaseStands: leaseStands)
        stage.pass(.seconds(4))
        #expect(stage.heard(by: bob).statuses.allSatisfy { $0 != "alice offline" })
        #expect(stage.redis.record(of: "alice").devices.count == 1)
        #expect(stage.shard.table.count == 2, "the former session is over")
    }

    @Test("removals during an outage are written a little after weaker states")
    func removedLast() {
        let stage = Stage()
        let (phone, _) = (stage.enter("alice"), stage.enter("bob", state: .idle))
        stage.settle()
        stage.redisGoes()
        stage.say(.goodbye, on: phone)
        stage.redisReturns()
        stage.forgetWrites()
        stage.pass(.milliseconds(1100))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        stage.pass(.milliseconds(200))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
    }

    @Test("with a lease of one second, an idle user does not go offline because of the delay")
    func shortLease() {
        let stage = Stage(lease: .seconds(1))
        let (bob, _) = (stage.enter("bob"), stage.enter("alice", state: .idle))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.pass(.seconds(5))
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("weaker states wait a second after an outage, regardless of replies and of changes")
    func waitsASecond() {
        let stage = Stage()
        let (phone, tablet) = (
            stage.enter("alice", "phone", state: .idle), stage.enter("alice", "tablet", state: .background)
        )
        let laptop = stage.enter("alice", "laptop")
        stage.settle()
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.event { $0.records.listed(.success(true), phone.name!, phone, under: w1, at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop"])
        stage.say(.state(.idle), on: tablet)
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop"])
        stage.say(.state(.active), on: tablet)
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop", "tablet"])
        stage.pass(.milliseconds(1100))
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop", "phone", "tablet"])
        _ = laptop
    }

    /// Regression: only what had been decided before the outage was held back.
    @Test(
        "after Redis is emptied, nothing that a weaker device does makes an online user appear less present",
        arguments: 0..<4)
    func emptiedAndChanged(place: Int) {
        let stage = Stage()
        let (bob, tablet) = (stage.enter("bob"), stage.enter("alice", "tablet", state: .idle))
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.last == "alice online")
        stage.pass(.milliseconds(100))
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.settle()
        switch place {
        case 0: stage.say(.goodbye, on: tablet)
        case 1: stage.say(.state(.background), on: tablet)
        case 2: stage.drop(tablet)
        default: _ = stage.enter("alice", "watch", state: .background)
        }
        stage.settle()
        stage.pass(.milliseconds(200))
        // The other worker is later by this much.
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.pass(.seconds(3))
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("if Redis still has the former lease, weaker states are written before it expires")
    func writesBeforeExpiry() throws {
        let stage = Stage()
        _ = stage.enter("alice", state: .idle)
        stage.settle()
        let former = try #require(stage.incarnation)
        stage.redisGoes()
        stage.others[former] = stage.redis.time.advanced(by: .milliseconds(800))
        stage.redisReturns()
        stage.pass(.milliseconds(549))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == former)
        stage.pass(.milliseconds(1))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }

    @Test("weaker states do not wait again after a further loss if Redis has lost nothing since")
    func waitsOnce() throws {
        let stage = Stage()
        _ = stage.enter("alice", state: .idle)
        stage.settle()
        stage.redisGoes()
        stage.redisReturns()
        stage.pass(.milliseconds(900))
        let waiting = try #require(stage.incarnation)
        stage.redisGoes()
        stage.others[waiting] = stage.redis.time.advanced(by: .seconds(5))
        stage.redisReturns()
        stage.pass(.milliseconds(100))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }
}
