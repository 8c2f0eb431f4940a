import ArgumentParser
import RollcallLoad
import RollcallModel
import RollcallWorker

/// How tokens are made for the devices, as with `rollcall token`.
struct LoadTokenOptions: ParsableArguments {
    @Option(help: "A file with the secret; the same as --set auth.secret_file=…", completion: .file())
    var secretFile: String?

    @OptionGroup
    var configuration: ConfigurationOptions

    /// How much longer than the measurement the tokens are valid, because gathering takes time.
    private static let reserve = Duration.seconds(3_600)

    /// Returns a token for each device of a plan; `nil` if the workers accept names.
    func minted(for plan: Plan) async throws -> [String]? {
        var options = configuration
        if let secretFile, let override = ConfigurationOptions.Override(argument: "auth.secret_file=\(secretFile)") {
            options.overrides.append(override)
        }
        guard options.file != nil || !options.overrides.isEmpty else { return nil }
        let auth = try await options.load().auth
        do {
            let minter = try await TokenMinter(auth)
            var tokens: [String] = []
            for device in 0..<plan.count {
                let user = try UserID(plan.user(device))
                tokens.append(try await minter.token(for: user, lifetime: plan.duration + Self.reserve))
            }
            return tokens
        } catch let problems as ConfigurationProblems {
            Output.log("configuration: \(problems)")
            throw ExitCode.wrongConfiguration
        }
    }
}
