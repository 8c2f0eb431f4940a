// A shard's most frequent decisions: signals, published typing, the expiry of typing, presence.

import RollcallClient
import RollcallCore
import RollcallProtocol

func measureDecisions(_ bench: inout Bench) {
    measureSignals(&bench)
    for people in [2, 200] { measureTyping(&bench, people: people) }
    measureExpiry(&bench)
    measurePresence(&bench)
}

private func measureSignals(_ bench: inout Bench) {
    let stage = ShardStage()
    let alice = stage.enter("alice")
    stage.say(.join("c42", presence: false), on: alice)
    let signal = ClientRequest(.typing("c42", true), id: nil)
    var signals = 0
    bench.row("a signal that goes on to Redis") { _ in
        stage.pass(.milliseconds(1100))
        stage.received(signal, on: alice) { signal, _, _ in
            signals += 1
            keep(signal)
        }
    }
    guard signals > 0 else { preconditionFailure("no signal is passed on") }
    stage.say(signal.message, on: alice)
    bench.row("a signal that the throttle holds back") { _ in
        stage.received(signal, on: alice) { _, _, _ in preconditionFailure("the signal is passed on") }
    }
}

/// One user starts and stops typing repeatedly, and all others are notified.
private func measureTyping(_ bench: inout Bench, people: Int) {
    let stage = ShardStage()
    for number in 0..<people { stage.say(.join("c42", presence: false), on: stage.enter(user(number))) }
    bench.row("a typing change in a room of \(people)") {
        // As fast as the pace of a typist allows.
        stage.pass(.milliseconds(250))
        stage.heard(of: user(0), typing: $0.isMultiple(of: 2), in: "c42")
        keep(stage.tickEnded())
    }
}

/// Uses as many rooms as a sample has calls. In each, a user's typing expires at a different moment.
private func measureExpiry(_ bench: inout Bench) {
    let stage = ShardStage()
    let rooms = (0..<Measurement.calls).map { try! ConversationID("c\($0)") }
    for (number, room) in rooms.enumerated() {
        stage.say(.join(room, presence: false), on: stage.enter(user(number)))
    }
    let type = {
        // Lets other deadlines pass, such as the time limit for a hello.
        stage.pass(.seconds(10))
        stage.timePassed()
        stage.settle()
        for room in rooms {
            stage.pass(.milliseconds(1))
            stage.heard(of: "bob", typing: true, in: room)
            stage.settle()
        }
    }
    bench.row("an expiry among \(rooms.count) rooms", prepare: type) { _ in
        stage.passToNextDeadline()
        stage.timePassed()
        keep(stage.tickEnded())
    }
}

private func measurePresence(_ bench: inout Bench) {
    let stage = ShardStage()
    for number in 0..<1000 { stage.say(.watch(["bob"]), on: stage.enter(user(number))) }
    bench.row("a presence change with 1000 watchers") {
        stage.pass(.milliseconds(1))
        stage.heard(of: "bob", status: $0.isMultiple(of: 2) ? .online : .away)
        keep(stage.tickEnded())
    }
}

private func user(_ number: Int) -> UserID { try! UserID("user\(number)") }
