import RollcallClient

let rollcall = RollcallClient(url: CommandLine.arguments[1], device: "terminal") { "alice" }
rollcall.connect()

for await state in rollcall.connection {
    print(state)
}
