// What an app does often: edits of a text field, and texts for its views.

import Foundation
import RollcallClient

/// Measures the floors, with which everything else is compared.
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

/// Measures edits during typing, and edits that start or end typing.
private func measureEdits(_ bench: inout Bench) {
    let client = RollcallClient(url: "ws://127.0.0.1:1/v1/connect", device: "phone") { "alice" }
    let input = client.typingInput(in: "c42")
    let text = String(repeating: "Lorem ipsum dolor sit amet, ", count: 20)
    input.edited(text)
    // Lets the client's own thread process its queue, so that no queue of thousands is measured.
    let rest = { _ = usleep(2000) }
    bench.row("an edit while typing", prepare: rest) { _ in input.edited(text) }
    bench.row("an edit that begins or ends the typing", prepare: rest) {
        input.edited($0.isMultiple(of: 2) ? text : " ")
    }
    bench.row("a view that observes typing, opened and closed", prepare: rest) { _ in
        keep(client.typing(in: "c42").makeAsyncIterator())
    }
}
