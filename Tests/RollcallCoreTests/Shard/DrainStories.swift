import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct DrainStories {
    private let others: [ByteString] = ["wss://w2", "wss://w3"]

    private func stage(devices: Int) -> (Stage, [Session]) {
        let stage = Stage()
        let keys = (0..<devices).map { stage.enter(try! UserID("u\($0)")) }
        stage.settle()
        stage.pass(.seconds(6))
        stage.forgetWhatWasSaid()
        return (stage, keys)
    }

    @Test("devices leave spread over the drain, each to one of the other workers, and at once")
    func spread() {
        let (stage, keys) = stage(devices: 400)
        stage.event { [others] in $0.drain(over: .seconds(4), to: others.map { Destination($0) }, at: $1) }
        var left: [Int] = []
        for _ in 0..<8 {
            let before = stage.closed.count
            stage.pass(.milliseconds(500))
            left.append(stage.closed.count - before)
        }
        #expect(left.allSatisfy { (25...75).contains($0) }, "\(left)")
        let goodbyes = keys.flatMap { stage.heard(by: $0) }
        let expected = others.map {
            ServerMessage.goodbye(.init(reason: .draining, reconnect: true, after: 0, to: $0))
        }
        #expect(goodbyes.count == 400 && goodbyes.allSatisfy(expected.contains))
        for goodbye in expected { #expect(goodbyes.count { $0 == goodbye } > 150) }
    }

    @Test("a worker sheds the devices that are not active first, by the weights of the others, and goes on")
    func shed() throws {
        let (stage, keys) = stage(devices: 100)
        for key in keys.prefix(30) { stage.say(.state(.idle), on: key) }
        stage.pass(.seconds(2))
        stage.forgetWhatWasSaid()
        let destinations = [Destination("wss://w2", weight: 3), Destination("wss://w3", weight: 1)]
        stage.event { $0.shed(40, over: .seconds(4), to: destinations, at: $1) }
        stage.pass(.seconds(2))
        let rest = 40 - stage.closed.count
        stage.event { $0.shed(rest, over: .seconds(4), to: destinations, at: $1) }
        _ = stage.enter("late")
        stage.pass(.seconds(8))
        #expect(stage.closed.count == 40, "those that leave already count when it is asked for again")
        let left = keys.map { stage.heard(by: $0) }
        #expect(left.prefix(30).allSatisfy { !$0.isEmpty } && left.dropFirst(30).count { !$0.isEmpty } == 10)
        func goodbyes(to place: ByteString) -> Int {
            left.count { $0.contains(.goodbye(.init(reason: .draining, reconnect: true, after: 0, to: place))) }
        }
        #expect(
            goodbyes(to: "wss://w2") + goodbyes(to: "wss://w3") == 40
                && goodbyes(to: "wss://w2") > goodbyes(to: "wss://w3"))
    }

    @Test("if no other worker can be named, devices are only told to reconnect")
    func nowhere() {
        let (stage, keys) = stage(devices: 1)
        stage.event { $0.drain(over: .seconds(4), to: [], at: $1) }
        stage.pass(.seconds(4))
        #expect(stage.heard(by: keys[0]) == [.goodbye(.init(reason: .draining, reconnect: true, after: 0))])
    }

    @Test("devices that connect during the drain leave spread as well")
    func comers() {
        let (stage, _) = stage(devices: 0)
        stage.event { $0.drain(over: .seconds(4), to: [], at: $1) }
        stage.pass(.seconds(1))
        for number in 0..<100 { _ = stage.enter(try! UserID("late\(number)")) }
        stage.pass(.milliseconds(1500))
        #expect((25...75).contains(stage.closed.count))
        stage.pass(.milliseconds(1500))
        #expect(stage.closed.count == 100)
    }

    @Test("the drain is over when each record has the lost connection and its time")
    func written() {
        let (stage, keys) = stage(devices: 20)
        stage.event { $0.drain(over: .seconds(4), to: [], at: $1) }
        let began = stage.redis.time
        stage.pass(.seconds(4), answering: false)
        #expect(stage.closed.count == keys.count)
        #expect(!stage.shard.isDrained, "nothing of it is written yet")
        stage.heartbeat()
        stage.settle()
        #expect(stage.shard.isDrained)
        for record in stage.redis.records.values {
            let lost = record.devices["phone"]?.lost
            #expect(lost.map { (began...began.advanced(by: .seconds(4))).contains($0) } == true)
            #expect(record.presence(past: [:]).status == .online, "it is in grace")
        }
        #expect(Set(stage.redis.records.values.map { $0.devices["phone"]?.lost }).count > 10)
    }
}
