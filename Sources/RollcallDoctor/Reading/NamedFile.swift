// A file that the configuration names, with its permissions.

import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file and its permissions.
struct NamedFile: Hashable, Sendable {
    var key: String
    var path: String
    var isSecret: Bool
    /// The permissions; `nil` if there is no such file.
    var mode: Int?

    /// Whether it is the configuration file itself.
    var isConfiguration: Bool { key == "config" }

    private init(_ key: String, _ path: String, isSecret: Bool) {
        (self.key, self.path, self.isSecret) = (key, path, isSecret)
        let place = URL(filePath: path).resolvingSymlinksInPath().path
        mode = (try? FileManager.default.attributesOfItem(atPath: place))?[.posixPermissions] as? Int
    }

    init(key: String, path: String, isSecret: Bool, mode: Int?) {
        (self.key, self.path, self.isSecret, self.mode) = (key, path, isSecret, mode)
    }

    /// All files of a configuration.
    static func all(of configuration: WorkerConfiguration, at file: String?) -> [NamedFile] {
        let named: [(key: String, path: String?, isSecret: Bool)] = [
            ("config", file, false),
            ("redis.password_file", configuration.redis.passwordFile, true),
            ("redis.sentinel_password_file", configuration.redis.sentinelPasswordFile, true),
            ("redis.authority", configuration.redis.authority, false),
            ("redis.certificate", configuration.redis.certificate, false),
            ("redis.private_key", configuration.redis.privateKey, true),
            ("edge.certificate", configuration.edge.certificate, false),
            ("edge.private_key", configuration.edge.privateKey, true),
            ("admin.token_file", configuration.admin.tokenFile, true),
            ("admin.read_token_file", configuration.admin.readTokenFile, true),
            ("admin.metrics_token_file", configuration.admin.metricsTokenFile, true),
            ("admin.certificate", configuration.admin.certificate, false),
            ("admin.private_key", configuration.admin.privateKey, true),
            ("admin.client_authority", configuration.admin.clientAuthority, false),
            ("auth.secret_file", configuration.auth.secretFile, true),
            ("auth.previous_secret_file", configuration.auth.previousSecretFile, true),
            ("auth.jwks_file", configuration.auth.jwksFile, false),
        ]
        return named.compactMap { key, path, isSecret in path.map { NamedFile(key, $0, isSecret: isSecret) } }
    }
}
