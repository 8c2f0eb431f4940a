import ArgumentParser
import Foundation
import RollcallModel
import RollcallWorker

/// Where a worker's configuration comes from.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "A configuration file like Config/worker.yaml.", completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Overrides a key of the file and of the environment, such as redis.url=redis://10.0.0.7. May be repeated.",
            valueName: "key=value"))
    var overrides: [Override] = []

    /// A key and its value, as `--set` takes them.
    struct Override: ExpressibleByArgument {
        let key: String
        let value: String

        init?(argument: String) {
            guard let (key, value) = argument.cut(at: "="), !key.isEmpty else { return nil }
            (self.key, self.value) = (key, value)
        }
    }

    /// The file, where one is named.
    var file: URL? { config.map { URL(fileURLWithPath: $0) } }

    /// What overrides it, by key; of a key that is named twice, the last.
    var texts: [String: String] { Dictionary(overrides.map { ($0.key, $0.value) }) { _, last in last } }

    /// Reads and checks the configuration; each problem goes to standard error.
    ///
    /// - Throws: the exit code for a wrong configuration.
    func load() async throws(ExitCode) -> WorkerConfiguration {
        do {
            return try await WorkerConfiguration.load(file: file, overrides: texts)
        } catch {
            for problem in error.problems { Output.log("configuration: \(problem)") }
            throw .wrongConfiguration
        }
    }
}
