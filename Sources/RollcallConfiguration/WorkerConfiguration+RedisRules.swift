// Rules between the values for Redis addresses and credentials.

package import RollcallRedis
package import RollcallShards

extension WorkerConfiguration {
    static let redisRules: [Rule] =
        [
            Rule(.malformed, "redis.url") { configuration in
                do throws(InvalidRedisURL) {
                    _ = try RedisDeployment(url: configuration.redis.url)
                    return nil
                } catch {
                    return error.description
                }
            },
            Rule(.inconsistent, "redis.password_file", "redis.url") {
                guard $0.redis.passwordFile != nil, $0.redis.deployment?.password != nil else { return nil }
                return "redis.url has a password too: remove one of them"
            },
            Rule(.missing, "redis.private_key", "redis.certificate") {
                $0.redis.certificate != nil && $0.redis.privateKey == nil
                    ? "redis.certificate is set: TLS needs its private key too" : nil
            },
            Rule(.missing, "redis.certificate", "redis.private_key") {
                $0.redis.privateKey != nil && $0.redis.certificate == nil
                    ? "redis.private_key is set: TLS needs its certificate too" : nil
            },
        ]
        + [
            Rule(.missing, "redis.sentinel_password_file", "redis.sentinel_user") {
                $0.redis.sentinelUser != nil && $0.redis.sentinelPasswordFile == nil
                    ? "redis.sentinel_user is set: a user needs a password" : nil
            },
            Rule(.inconsistent, "redis.sentinel_password_file", "redis.url") {
                guard $0.redis.sentinelPasswordFile != nil, let topology = $0.redis.deployment?.topology else {
                    return nil
                }
                if case .sentinel = topology { return nil }
                return "redis.url does not use sentinels; redis+sentinel:// does"
            },
            onlyUnderTLS("redis.authority", \.redis.authority), onlyUnderTLS("redis.certificate", \.redis.certificate),
            onlyUnderTLS("redis.server_name", \.redis.serverName),
        ]

    /// If TLS is prepared but not requested, the worker reports that before it sends anything unencrypted.
    private static func onlyUnderTLS(
        _ key: String, _ path: any KeyPath<WorkerConfiguration, String?> & Sendable
    ) -> Rule {
        Rule(.inconsistent, key, "redis.url") {
            guard $0[keyPath: path] != nil, $0.redis.deployment?.isEncrypted == false else { return nil }
            return "redis.url does not use TLS; rediss:// does"
        }
    }
}

extension WorkerConfiguration.Redis {
    /// The parsed URL; `nil` if it is invalid.
    package var deployment: RedisDeployment? { try? RedisDeployment(url: url) }
}
