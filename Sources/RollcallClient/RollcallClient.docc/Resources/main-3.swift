import RollcallClient

let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal") { "alice" }
rollcall.connect()

let bob = PresenceModel(of: "bob", from: rollcall)
let chat = TypingModel(in: "c42", from: rollcall)
