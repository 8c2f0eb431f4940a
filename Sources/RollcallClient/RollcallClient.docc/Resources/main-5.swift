import RollcallClient

var options = ClientOptions()
options.names = { user in user.text }
let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal", options: options) { "alice" }
rollcall.connect()

let bob = PresenceModel(of: "bob", from: rollcall)
let chat = TypingModel(in: "c42", from: rollcall)

while true {
    print("bob (\(bob.dot))", chat.text.isEmpty ? bob.text : chat.text)
    chat.draft += "!"
    if chat.draft.count == 10 { chat.sends() }
    try await Task.sleep(for: .seconds(1))
}
