import RollcallClient

let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal") { "alice" }
rollcall.connect()

for await typing in rollcall.typing(in: "c42") {
    print(TypingText.english.text(for: typing) { user in user.text })
}
