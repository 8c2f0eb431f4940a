// What an app calls often: edits of a text field, and texts for its views.

import Foundation
import RollcallClient

/// What everything else is measured beside.
func measureFloors(_ bench: inout Bench) {
    let floor = Floor()
    bench.row("floor: a lock, and a look-up in a dictionary") { _ in keep(floor.lookUp()) }
    bench.row("floor: the time") { _ in keep(ContinuousClock.now) }
}

func measureClient(_ bench: inout Bench) {
    measureEdits(&bench)
    for count in [1, 3, 200] {
        let typists = (0..<min(count, 10)).map { Typist(user: "user", name: "Person \($0)") }
        let typing = Typing(conversation: "c42", typists: typists, count: count)
        bench.row("the text for \(count) typing") { _ in keep(TypingText.english.text(for: typing)) }
    }
}

/// Edits as they come while somebody types, and edits each of which begins or ends the typing.
private func measureEdits(_ bench: inout Bench) {
    let client = RollcallClient(url: "ws://127.0.0.1:1/v1/connect", device: "phone") { "alice" }
    let input = client.typingInput(in: "c42")
    let text = String(repeating: "Lorem ipsum dolor sit amet, ", count: 20)
    input.edited(text)
    // The client's own thread takes up what it was told, so that no queue of thousands is measured.
    let rest = { _ = usleep(2000) }
    bench.row("an edit while typing", prepare: rest) { _ in input.edited(text) }
    bench.row("an edit that begins or ends the typing", prepare: rest) {
        input.edited($0.isMultiple(of: 2) ? text : " ")
    }
}
