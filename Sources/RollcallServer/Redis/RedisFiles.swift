// Files with credentials for Redis. Passwords and certificates change while workers run. Open connections do not need
// them again, so files are read when the next connection is made.

package import Logging
import NIOConcurrencyHelpers
package import RollcallRedis

/// The current passwords and certificates for a worker's Redis.
final class RedisFiles: Sendable {
    /// The contents of the files that are named.
    private struct Contents: Hashable {
        var password: [UInt8]?
        var sentinelPassword: [UInt8]?
        var trust = RedisTrust()
    }

    private let redis: WorkerConfiguration.Redis
    private let isEncrypted: Bool
    private let logger: Logger
    private let good: NIOLockedValueBox<(contents: Contents, credentials: Credentials)>
    /// The last problem that was logged, because many connections read the same files.
    private let told = NIOLockedValueBox<UnusableFile?>(nil)

    /// Reads the files.
    ///
    /// - Throws: ``UnusableFile``.
    init(_ redis: WorkerConfiguration.Redis, isEncrypted: Bool, logger: Logger) throws(UnusableFile) {
        (self.redis, self.isEncrypted, self.logger) = (redis, isEncrypted, logger)
        let contents = try Self.read(redis)
        good = NIOLockedValueBox((contents, try Self.credentials(contents, redis, isEncrypted: isEncrypted)))
    }

    /// Returns the current contents. A file that cannot be used keeps its previous contents.
    @Sendable func credentials() -> Credentials {
        do throws(UnusableFile) {
            let contents = try Self.read(redis)
            let last = good.withLockedValue { $0 }
            guard contents != last.contents else {
                told.withLockedValue { $0 = nil }
                return last.credentials
            }
            let credentials = try Self.credentials(contents, redis, isEncrypted: isEncrypted)
            good.withLockedValue { $0 = (contents, credentials) }
            told.withLockedValue { $0 = nil }
            return credentials
        } catch {
            tell(error)
            return good.withLockedValue { $0.credentials }
        }
    }

    /// Logs a problem once, until another file has one or all are valid.
    private func tell(_ file: UnusableFile) {
        let isNews = told.withLockedValue { told in
            defer { told = file }
            return told != file
        }
        guard isNews else { return }
        logger.error(
            "a file for Redis cannot be used; its previous contents stay in use",
            metadata: ["key": "\(file.key)", "reason": "\(file.reason)"])
    }

    private static func credentials(
        _ contents: Contents, _ redis: WorkerConfiguration.Redis, isEncrypted: Bool
    ) throws(UnusableFile) -> Credentials {
        var credentials = Credentials(
            password: contents.password.map { Secret($0.trimmingLineEnds).text },
            sentinelUsername: redis.sentinelUser,
            sentinelPassword: contents.sentinelPassword.map { Secret($0.trimmingLineEnds).text })
        // A configuration built in code may have the secret without a file.
        if contents.password == nil { credentials.password = redis.password?.text }
        if isEncrypted {
            credentials.tls = TLSClient(context: try contents.trust.context(), serverName: redis.serverName)
        }
        return credentials
    }

    private static func read(_ redis: WorkerConfiguration.Redis) throws(UnusableFile) -> Contents {
        Contents(
            password: try contents("redis.password_file", redis.passwordFile),
            sentinelPassword: try contents("redis.sentinel_password_file", redis.sentinelPasswordFile),
            trust: RedisTrust(
                authority: try contents("redis.authority", redis.authority),
                certificate: try contents("redis.certificate", redis.certificate),
                privateKey: try contents("redis.private_key", redis.privateKey)))
    }

    private static func contents(_ key: String, _ path: String?) throws(UnusableFile) -> [UInt8]? {
        guard let path else { return nil }
        do {
            return try FileContents.read(path)
        } catch {
            throw UnusableFile(key, error.reason)
        }
    }
}

extension WorkerConfiguration.Redis {
    /// The credentials for Redis at each connection; `nil` if the URL has all of them.
    package func credentials(
        for deployment: RedisDeployment, logger: Logger
    ) throws(ConfigurationProblems) -> Credentials.Source? {
        guard passwordFile != nil || password != nil || sentinelPasswordFile != nil || deployment.isEncrypted else {
            return nil
        }
        do throws(UnusableFile) {
            return try RedisFiles(self, isEncrypted: deployment.isEncrypted, logger: logger).credentials
        } catch {
            throw ConfigurationProblems([ConfigurationProblem(.unusableFile, error.key, error.reason)])
        }
    }
}
