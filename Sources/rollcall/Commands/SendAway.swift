import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall send-away`: ends sessions on any worker.
struct SendAway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-away",
        abstract: "End a user's sessions, or one device's, on whatever worker (close code 4106).",
        discussion: """
            A client that keeps to the protocol does not come back by itself. --revoke keeps the others out, too.
            """)

    @Argument(help: "Whom to send away.")
    var user: UserID

    @Option(help: "The only device to send away.")
    var device: DeviceID?

    @Flag(help: "Take no token any more that was issued for the user before now.")
    var revoke = false

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        if revoke, device != nil { throw ValidationError("tokens are revoked for all devices: leave --device out") }
    }

    func run() async throws {
        let port = try admin.port()
        let away: SentAway =
            if revoke {
                try await port.ask(.post, "users", user.text, "revoke")
            } else {
                try await port.ask(
                    .delete, "users", user.text, "sessions", query: device.map { [("device", $0.text)] } ?? [])
            }
        if json { try Output.json(away) } else { for line in away.lines(user) { try Output.line(line) } }
        if !away.unreached.isEmpty { throw ExitCode.failure }
    }
}
