import ArgumentParser
import Foundation
import RollcallModel
import RollcallWorker

/// The sources of a worker's configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "A configuration file like Config/worker.yaml.", completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Override a key of the file and the environment, such as redis.url=redis://10.0.0.7. May be repeated.",
            valueName: "key=value"))
    var overrides: [Override] = []

    /// A key and its value, as given to `--set`.
    struct Override: ExpressibleByArgument {
        let key: String
        let value: String

        init?(argument: String) {
            guard let (key, value) = argument.cut(at: "="), !key.isEmpty else { return nil }
            (self.key, self.value) = (key, value)
        }
    }

    /// The configuration file, if one is given.
    var file: URL? { config.map { URL(fileURLWithPath: $0) } }

    /// The overrides by key. If a key is given twice, the last value is used.
    var texts: [String: String] { Dictionary(overrides.map { ($0.key, $0.value) }) { _, last in last } }

    /// Reads and checks the configuration, and logs each problem to standard error.
    ///
    /// - Throws: the exit code for a wrong configuration.
    func load() throws(ExitCode) -> WorkerConfiguration {
        do {
            return try WorkerConfiguration.load(file: file, overrides: texts)
        } catch {
            for problem in error.problems { Output.log("configuration: \(problem)") }
            throw .wrongConfiguration
        }
    }
}
