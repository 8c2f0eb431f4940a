// The keys that a worker begins with: those of its files. What a URL has is fetched when the worker runs, so that it
// starts while the issuer is away; tokens wait for it.

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
            problems.append(ConfigurationProblem(.missing, "auth.secret_file", "without a key no token can be checked"))
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }
}

extension WorkerConfiguration.Auth {
    /// The files that keys come from.
    var keyFiles: [KeySource: String] {
        let paths = [KeySource.secret: secretFile, .previousSecret: previousSecretFile, .jwksFile: jwksFile]
        return paths.compactMapValues { $0 }
    }

    /// What was read of them.
    fileprivate var keyContents: [(KeySource, [UInt8])] {
        [(.secret, secret?.bytes), (.previousSecret, previousSecret?.bytes), (.jwksFile, jwks.map { Array($0.utf8) })]
            .compactMap { source, contents in contents.map { (source, $0) } }
    }
}
