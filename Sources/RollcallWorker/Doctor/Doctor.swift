// The doctor reads the configuration, this host and Redis, and says what would stop a worker, and what to do. It only
// reads: it writes nothing, and runs no command that is slow on a large Redis.

package import Foundation
package import Logging
import NIOCore
import NIOPosix
import RollcallProtocol
import RollcallRedis
import RollcallServer

/// The result of one check.
package struct Finding: Codable, Hashable, Sendable {
    /// The verdicts, from best to worst.
    package enum Verdict: String, Codable, CaseIterable, Comparable, Sendable {
        case ok
        /// The check could not run, for example because a right is missing.
        case skipped
        /// It works, but operators should know about it.
        case warning
        /// Rollcall does not work, or not as documented.
        case failure

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package var check: Check
    package var verdict: Verdict
    /// What was found: a sentence without initial capital and full stop.
    package var found: String
    /// What to do; absent if there is nothing to do.
    package var advice: String?

    package init(_ check: Check, _ verdict: Verdict, _ found: String, advice: String? = nil) {
        (self.check, self.verdict, self.found, self.advice) = (check, verdict, found, advice)
    }
}

/// The checks, in the order of the report. The names are stable: programs match on them.
package enum Check: String, Codable, CaseIterable, Sendable {
    case configuration, authentication, files, certificates, access, redis, version, role, persistence, eviction,
        clients,
        rights, latency,
        clock, events, subscriptions
    case openFiles = "open_files"
    case ports

    /// The name for people to read.
    package var title: String { rawValue.replacing("_", with: " ") }
}

/// The findings about a configuration, its Redis and this host.
package struct Examination: Codable, Sendable {
    /// The address of Redis without its password; absent if the configuration has no valid one.
    package var redis: String?
    /// The worst verdict of all findings.
    package var verdict: Finding.Verdict
    package var findings: [Finding]

    init(redis: String?, findings: [Finding]) {
        self.redis = redis
        self.findings = findings
        verdict = findings.map(\.verdict).max() ?? .ok
    }

    /// The result, as the exit code reports it.
    package enum Outcome: Sendable {
        case fine, failures, wrongConfiguration, noRedis
    }

    /// The problem to fix first: a worker does not start with a wrong configuration, nor without Redis.
    package var outcome: Outcome {
        func fails(_ check: Check) -> Bool { findings.contains { $0.check == check && $0.verdict == .failure } }
        if fails(.configuration) { return .wrongConfiguration }
        if fails(.redis) { return .noRedis }
        return verdict == .failure ? .failures : .fine
    }
}

/// Examines a configuration, its Redis and this host.
package enum Doctor {
    /// - Parameters:
    ///   - file: The configuration file, as given to a worker.
    ///   - overrides: Texts by key, as given by flags.
    package static func examine(
        file: URL?, environment: [String: String] = ProcessInfo.processInfo.environment,
        overrides: [String: String] = [:], logger: Logger
    ) async -> Examination {
        let (configuration, problems) = WorkerConfiguration.examine(
            file: file, environment: environment, overrides: overrides)
        let wrong = Set(problems.map(\.key))
        let deployment =
            wrong.contains { $0.hasPrefix("redis.") } ? nil : (try? NodeSettings(configuration))?.redis
        let host = HostChecks(configuration: configuration, wrong: wrong, file: file?.path)
        // The errors are reported as such, and a finding about the default in their place would mislead.
        let sound =
            problems.isEmpty
            ? [Finding(.configuration, .ok, "a worker accepts it")]
            : problems.map { Finding(.configuration, .failure, "\($0)") }
        let risks = (host.authentication + (await host.keys()) + host.files + host.certificates).filter {
            $0.verdict != .ok || problems.isEmpty
        }
        let access = wrong.contains { $0.hasPrefix("access.") } ? [] : await host.access()
        let redis = await redis(configuration, deployment, logger)
        return Examination(
            redis: deployment.map { "\($0)" },
            findings: sound + risks + access + redis + [host.openFiles] + (await host.ports())
        )
    }

    private static func redis(
        _ configuration: WorkerConfiguration, _ deployment: RedisDeployment?, _ logger: Logger
    ) async -> [Finding] {
        guard let deployment else { return [Finding(.redis, .skipped, "not checked: its configuration is wrong")] }
        let reach = ReachCheck(deployment: deployment)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        do {
            let topology = Topology(
                of: deployment, credentials: try configuration.redis.credentials(for: deployment, logger: logger),
                on: eventLoop,
                logger: logger)
            let result = await Result {
                let visit = try await RedisVisit(
                    to: topology, acceptsReplica: true, on: eventLoop, within: configuration.redis.connectTimeout,
                    logger: logger)
                let names = KeyNames(prefix: configuration.redis.prefix)
                let readings = await RedisReadings(
                    visit, user: deployment.username ?? "default",
                    rights: WorkerRights(names: names, ofCluster: deployment.isCluster), names: names,
                    isCluster: deployment.isCluster)
                await visit.close()
                return readings
            }
            let subscriptions = await subscriptions(topology, configuration, on: eventLoop, logger)
            await topology.close()
            let checks = RedisChecks(
                readings: try result.get(), isCluster: deployment.isCluster,
                leeway: configuration.auth.mode == .jwt ? configuration.auth.leeway : nil,
                areEventsEnabled: configuration.events.enabled, accessRules: configuration.accessRules)
            return [reach.reached] + checks.findings + [subscriptions]
        } catch {
            return [reach.failed(error)]
        }
    }
}

extension Doctor {
    private static func subscriptions(
        _ topology: Topology, _ configuration: WorkerConfiguration, on eventLoop: any EventLoop, _ logger: Logger
    ) async -> Finding {
        let names = KeyNames(prefix: configuration.redis.prefix)
        for address in topology.map?.primaries ?? [] {
            let refusal = await topology.refusalToSubscribe(
                of: names, at: address, on: eventLoop, within: configuration.redis.connectTimeout, logger: logger)
            guard let refusal else { continue }
            return refusal.isDenied
                ? Finding(.subscriptions, .skipped, "not checked: the Redis user lacks a right to subscribe")
                : Finding(
                    .subscriptions, .failure, "no messages can be received at \(address): \(refusal)",
                    advice: "let redis.url lead to Redis itself, or to a proxy that passes on SUBSCRIBE")
        }
        return Finding(.subscriptions, .ok, "messages can be received")
    }
}

extension Result where Failure == any Error {
    var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }

    /// The result of asynchronous work.
    package init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
