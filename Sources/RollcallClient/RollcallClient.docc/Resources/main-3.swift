import RollcallClient

var options = ClientOptions()
options.names = { user in user.text }
let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal", options: options) { "alice" }
rollcall.connect()

let bob = PresenceModel(of: "bob", from: rollcall)
let chat = TypingModel(in: "c42", from: rollcall)
