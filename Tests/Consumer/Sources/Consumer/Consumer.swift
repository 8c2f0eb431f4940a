// Ten lines from import to text on the screen, and nothing of Rollcall but the client.

import RollcallClient

@main @MainActor struct Consumer {
    static var label = ""

    static func main() async {
        let rollcall = RollcallClient(url: "ws://127.0.0.1:1/v1/connect", device: "iphone") { "alice" }
        rollcall.connect()
        let shown = Task {
            for await typing in rollcall.typing(in: "c42") {
                label = TypingText.english.text(for: typing)
            }
        }
        let input = rollcall.typingInput(in: "c42")
        input.edited("Hello")
        for await state in rollcall.connection {
            if case .waiting(_, let error) = state {
                print(error.code.rawValue)
                break
            }
        }
        await rollcall.shutdown()
        await shown.value
    }
}
