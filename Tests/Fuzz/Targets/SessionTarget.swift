// Fuzzes a shard: devices connect, send, stall and leave, and Redis answers, fails, disconnects and returns, in the
// order given by the input. Client messages are text, parsed as in a worker. At the end, all devices leave, and nothing
// may be left of any of them.

import RollcallProtocol

enum SessionTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        var input = Input(bytes)
        let shard = FuzzedShard()
        for _ in 0..<300 where !input.isEmpty { play(&input, shard) }
        shard.empty()
    }

    private static func play(_ input: inout Input, _ shard: FuzzedShard) {
        switch input.byte() % 24 {
        case 0: shard.connect()
        case 1: shard.say(text(&input), by: input.byte())
        case 2...7: shard.say(message(&input), by: input.byte())
        case 8: shard.hangUp(input.byte())
        case 9: shard.stall(input.byte())
        case 10: shard.read(input.byte())
        case 11: shard.pass(.milliseconds(Int(input.byte()) * 40))
        case 12...15: for _ in 0...input.number(below: 8) { shard.answer() }
        case 16: shard.fail()
        case 17: shard.redisGoes()
        case 18: shard.redisReturns()
        case 19: shard.subscriberGoes()
        case 20: shard.drain(.milliseconds(Int(input.byte()) * 20))
        case 21: shard.setMember(name(input.byte()), isMember: input.byte() % 2 == 0, of: room(input.byte()))
        case 22: shard.publishUnreadable(about: name(input.byte()), room(input.byte()))
        default: shard.replace(input.byte())
        }
    }

    private static func text(_ input: inout Input) -> [UInt8] {
        let count = Int(input.byte())
        return input.bytes(count)
    }

    private static func message(_ input: inout Input) -> [UInt8] {
        let (kind, what) = (input.byte(), input.byte())
        let fields =
            switch kind % 12 {
            case 0, 1: #""type":"hello","token":"\#(name(what))","device":"d\#(what % 3)""#
            case 2: #""type":"state","state":"\#(["active", "idle", "background"][Int(what) % 3])""#
            case 3: #""type":"watch","users":[\#(names(what))]"#
            case 4: #""type":"unwatch","users":[\#(names(what))]"#
            case 5: #""type":"get","users":[\#(names(what))]"#
            case 6, 7: #""type":"join","conversation":"\#(room(what))","presence":\#(what % 5 == 0)"#
            case 8: #""type":"leave","conversation":"\#(room(what))""#
            case 9, 10: #""type":"typing","conversation":"\#(room(what))","typing":\#(what % 3 != 0)"#
            default: what % 4 == 0 ? #""type":"goodbye""# : #""type":"ping""#
            }
        return Array("{\(kind < 128 ? #""id":\#(what),"# : "")\(fields)}".utf8)
    }

    private static func name(_ byte: UInt8) -> String { "u\(byte % 4)" }
    private static func room(_ byte: UInt8) -> String { "c\(byte % 3)" }

    private static func names(_ bits: UInt8) -> String {
        (0..<8).filter { bits & 1 << $0 != 0 }.map { "\"u\($0)\"" }.joined(separator: ",")
    }
}
