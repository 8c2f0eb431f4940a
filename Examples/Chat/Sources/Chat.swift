// Prints who is typing in the conversation c42 of a worker that asks for no tokens, as `rollcall dev` runs them:
//
//     swift run chat ws://127.0.0.1:8080/v1/connect alice

import RollcallClient

@main
struct Chat {
    static func main() async {
        guard CommandLine.arguments.count == 3 else { return print("usage: chat URL USER") }
        let user = CommandLine.arguments[2]
        let rollcall = RollcallClient(url: CommandLine.arguments[1]) { user }
        rollcall.connect()
        let problems = Task {
            for await state in rollcall.connection {
                if case .failed(let error) = state { print(error.message) }
                if case .failed = state { rollcall.close() }
            }
        }
        defer { problems.cancel() }
        for await typing in rollcall.typing(in: "c42") {
            let line = TypingText().text(for: typing)
            print(line.isEmpty ? "Nobody is typing." : line)
        }
    }
}
