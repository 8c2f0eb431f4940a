// The doctor reads the configuration, this host and Redis, and then judges what it read. Reading makes no judgements,
// and judging does no I/O.

package import Logging
import NIOCore
import NIOPosix
import RollcallConfiguration
import RollcallRedis
import RollcallShards

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Examines a configuration, its Redis and this host.
package enum Doctor {
    /// - Parameters:
    ///   - file: The configuration file, as given to a worker.
    ///   - overrides: Texts by key, as given by flags.
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
        _ configuration: WorkerConfiguration, _ deployment: RedisDeployment?, _ logger: Logger
    ) async -> ([Finding], RedisReadings?) {
        guard let deployment else {
            return ([Finding(.redis, .skipped, "not checked: its configuration is wrong")], nil)
        }
        do {
            let credentials = try configuration.redis.credentials(for: deployment, logger: logger)
            return await redis(configuration, deployment, credentials, logger)
        } catch {
            return ([ReachCheck(deployment: deployment).failed(error)], nil)
        }
    }

    private static func redis(
        _ configuration: WorkerConfiguration, _ deployment: RedisDeployment, _ credentials: Credentials.Source?,
        _ logger: Logger
    ) async -> ([Finding], RedisReadings?) {
        let place = RedisPlace(
            deployment, credentials: credentials, on: MultiThreadedEventLoopGroup.singleton.next(),
            within: configuration.redis.connectTimeout, logger: logger)
        if case .cluster = deployment.topology {
            let (findings, readings) = await cluster(at: place, configuration)
            await place.route.close()
            return (findings, readings)
        }
        let sentinels = await SentinelCheck(of: place)
        let (reach, readings) = await read(place, KeyNames(prefix: configuration.redis.prefix))
        await place.route.close()
        let first = [reach] + (sentinels.map { [$0.finding] } ?? [])
        guard let readings else { return (first, nil) }
        let checks = RedisChecks(readings: readings, needs: needs(of: configuration, deployment))
        return (first + checks.findings + WorkerChecks(readings: readings).findings, readings)
    }

    /// Examines each primary like a single server. The list of workers comes from the primary that stores their leases.
    private static func cluster(
        at place: RedisPlace, _ configuration: WorkerConfiguration
    ) async -> ([Finding], RedisReadings?) {
        let reach = ReachCheck(deployment: place.deployment)
        let reading: Reading<ClusterReading>
        do {
            reading = try await place.cluster()
        } catch {
            return ([reach.failed(error)], nil)
        }
        let names = KeyNames(prefix: configuration.redis.prefix)
        let needs = needs(of: configuration, place.deployment)
        var (seen, workers): ([(String, [Finding])], RedisReadings?) = ([], nil)
        for primary in reading.value?.primaries ?? [] {
            let (reached, readings) = await read(place.server(at: primary, isOfCluster: true), names)
            guard let readings else {
                seen.append(("\(primary)", [reached]))
                continue
            }
            seen.append(("\(primary)", RedisChecks(readings: readings, needs: needs).findings))
            if readings.workers.value != nil { workers = readings }
        }
        let findings =
            [reach.reached(), ClusterCheck(reading: reading).finding] + ClusterCheck.together(seen)
            + (workers.map { WorkerChecks(readings: $0).findings } ?? [])
        return (findings, workers)
    }

    private static func read(_ place: RedisPlace, _ names: KeyNames) async -> (Finding, RedisReadings?) {
        let check = ReachCheck(deployment: place.deployment)
        do {
            let visit = try await place.visit()
            let readings = await RedisReader(visit: visit, place: place, names: names).read()
            await visit.close()
            return (check.reached(), readings)
        } catch {
            return (check.failed(error), nil)
        }
    }

    private static func needs(of configuration: WorkerConfiguration, _ deployment: RedisDeployment) -> RedisChecks.Needs
    {
        RedisChecks.Needs(
            connections: 2 * max(1, System.coreCount) + 2,
            leeway: configuration.auth.mode == .jwt ? configuration.auth.leeway : nil, database: deployment.database,
            isCluster: deployment.isCluster)
    }

    private static func host(
        _ configuration: WorkerConfiguration, _ wrong: Set<String>, _ readings: RedisReadings?,
        at deployment: RedisDeployment?
    ) async -> [Finding] {
        let host = await HostReadings(configuration, besides: wrong, hasRedis: deployment?.isHere ?? false)
        return HostChecks(readings: host, redis: readings).findings
    }
}
