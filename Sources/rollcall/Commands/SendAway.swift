import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall send-away`: ends sessions on any worker.
struct SendAway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-away",
        abstract: "End a user's sessions, or one device's, on all workers (close code 4106).",
        discussion: """
            Clients that follow the protocol do not reconnect automatically. --revoke also stops those that do not.
            """)

    @Argument(help: "The user whose sessions to end.")
    var user: UserID

    @Option(help: "The device whose session to end; by default all.")
    var device: DeviceID?

    @Flag(help: "Also revoke all tokens issued for the user until now.")
    var revoke = false

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        if revoke, device != nil { throw ValidationError("tokens are revoked for all devices: remove --device") }
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
