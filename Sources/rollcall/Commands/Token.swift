import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall token`: signs a token that the workers of this configuration accept.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign a token for a user, with the secret of the workers.",
        discussion: "The secret, the issuer and the audience come from the configuration: auth.secret_file, …")

    @Argument(help: "The user of the token.")
    var user: UserID

    @Option(help: "The only device that may use it. By default, the client names its device.")
    var device: DeviceID?

    @Option(help: ArgumentHelp("How long it is valid.", valueName: "duration"))
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
        let configuration = try options.load()
        do {
            let minter = try TokenMinter(configuration.auth)
            try Output.line(try minter.token(for: user, device: device, lifetime: lifetime))
        } catch let problems as ConfigurationProblems {
            Output.log("configuration: \(problems)")
            throw ExitCode.wrongConfiguration
        }
    }
}
