// The doctor: reads the configuration, this host and Redis, and then judges what it has read. Reading has no opinion, and
// judging touches nothing.

package import Logging
import NIOCore
import NIOPosix
import RollcallRedis

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Looks at a configuration, at its Redis and at this host.
package enum Doctor {
    /// - Parameters:
    ///   - file: the configuration, as a worker is given it.
    ///   - overrides: texts by key, as flags give them.
    package static func examine(
        file: URL?, environment: [String: String] = ProcessInfo.processInfo.environment,
        overrides: [String: String] = [:], logger: Logger
    ) async -> Examination {
        let (configuration, problems) = await WorkerConfiguration.examine(
            file: file, environment: environment, overrides: overrides)
        let wrong = Set(problems.map(\.key))
        let settings = wrong.contains { $0.hasPrefix("redis.") } ? nil : try? NodeSettings(configuration)
        let (redis, readings) = await redis(configuration, settings?.redis, logger)
        let checks = ConfigurationChecks(
            configuration: configuration, problems: problems, files: NamedFile.all(of: configuration, at: file?.path))
        let host = await host(configuration, wrong, readings, at: settings?.redis)
        return Examination(redis: settings.map { "\($0.redis)" }, findings: checks.findings + redis + host)
    }

    private static func redis(
        _ configuration: WorkerConfiguration, _ location: RedisLocation?, _ logger: Logger
    ) async -> ([Finding], RedisReadings?) {
        guard let location else {
            return ([Finding(.redis, .skipped, "not looked for: what the configuration says of it is wrong")], nil)
        }
        let (reach, readings) = await read(configuration, location, logger)
        guard let readings else { return ([reach], nil) }
        let checks = RedisChecks(readings: readings, needs: needs(of: configuration, location))
        return ([reach] + checks.findings + WorkerChecks(readings: readings).findings, readings)
    }

    private static func read(
        _ configuration: WorkerConfiguration, _ location: RedisLocation, _ logger: Logger
    ) async -> (Finding, RedisReadings?) {
        let (check, loop) = (ReachCheck(location: location), MultiThreadedEventLoopGroup.singleton.next())
        let timeout = configuration.redis.connectTimeout
        do {
            let visit = try await RedisVisit(to: location, on: loop, within: timeout, logger: logger)
            let readings = await RedisReader(
                visit: visit, location: location, names: KeyNames(prefix: configuration.redis.prefix),
                eventLoop: loop, timeout: timeout, logger: logger
            ).read()
            await visit.close()
            return (check.reached(), readings)
        } catch {
            return (check.failed(error), nil)
        }
    }

    private static func needs(of configuration: WorkerConfiguration, _ location: RedisLocation) -> RedisChecks.Needs {
        RedisChecks.Needs(
            connections: 2 * max(1, System.coreCount) + 1,
            leeway: configuration.auth.mode == .jwt ? configuration.auth.leeway : nil, database: location.database)
    }

    private static func host(
        _ configuration: WorkerConfiguration, _ wrong: Set<String>, _ readings: RedisReadings?,
        at location: RedisLocation?
    ) async -> [Finding] {
        let hasRedis =
            switch location?.address {
            case .host(let host, _)?: Loopback.contains(host)
            case .unix?: true
            case nil: false
            }
        let host = await HostReadings(configuration, besides: wrong, hasRedis: hasRedis)
        return HostChecks(readings: host, redis: readings).findings
    }
}
