import RollcallClient

var options = ClientOptions()
options.names = { user in user.text }
let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal", options: options) { "alice" }
rollcall.connect()

for await typing in rollcall.typing(in: "c42") {
    print(TypingText.english.text(for: typing))
}
