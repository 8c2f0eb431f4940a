import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall token`: signs a token that the workers of this configuration accept.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign a token for a user, with the secret that workers check it by.",
        discussion: "The secret, the issuer and the audience are those of the configuration: auth.secret_file, …")

    @Argument(help: "Whom the token is for.")
    var user: UserID

    @Option(help: "The device that it is for. Without, the client names its device.")
    var device: DeviceID?

    @Option(help: ArgumentHelp("How long it is good.", valueName: "duration"))
    var lifetime = Duration.seconds(3600)

    @Option(help: "A file with the secret; the same as --set auth.secret_file=…", completion: .file())
    var secretFile: String?

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    func run() async throws {
        var options = options
        if let secretFile, let override = ConfigurationOptions.Override(argument: "auth.secret_file=\(secretFile)") {
            options.overrides.append(override)
        }
        let configuration = try await options.load()
        do {
            let minter = try await TokenMinter(configuration.auth)
            try Output.line(try await minter.token(for: user, device: device, lifetime: lifetime))
        } catch let problems as ConfigurationProblems {
            Output.log("configuration: \(problems)")
            throw ExitCode.wrongConfiguration
        }
    }
}
