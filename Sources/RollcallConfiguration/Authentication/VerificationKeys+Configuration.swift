// The keys at startup: those of the files. The URL's keys are fetched once the worker runs, so that it can start while
// the issuer is down; tokens wait for them.

import RollcallShards

extension VerificationKeys {
    init(_ configuration: WorkerConfiguration.Auth) async throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        for (source, contents) in configuration.keyContents {
            do {
                replace(source, with: try await source.keys(in: contents))
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, source.setting, error.description))
            }
        }
        if isEmpty, problems.isEmpty, configuration.jwksURL == nil {
            problems.append(ConfigurationProblem(.missing, "auth.secret_file", "checking tokens needs a key"))
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }
}

extension WorkerConfiguration.Auth {
    /// The files that contain keys.
    var keyFiles: [KeySource: String] {
        let paths = [KeySource.secret: secretFile, .previousSecret: previousSecretFile, .jwksFile: jwksFile]
        return paths.compactMapValues { $0 }
    }

    /// The contents of these files.
    fileprivate var keyContents: [(KeySource, [UInt8])] {
        [(.secret, secret?.bytes), (.previousSecret, previousSecret?.bytes), (.jwksFile, jwks.map { Array($0.utf8) })]
            .compactMap { source, contents in contents.map { (source, $0) } }
    }
}
