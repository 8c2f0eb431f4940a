// What the doctor reads of a Redis, and how it judges that. Redis users with minimal rights may read little, and that is
// fine: what was not read is skipped.

import Foundation
import NIOCore
import NIOPosix
import RollcallProtocol
import RollcallRedis
import RollcallServer

/// A value that was read, or the sentence that says why not.
typealias Reading<Value> = Result<Value, Unread>

struct Unread: Error, Hashable, Sendable {
    let sentence: String

    /// The Redis user lacks this right.
    static func denied(_ right: String) -> Unread {
        Unread(sentence: "not checked: the Redis user lacks the right +\(right)")
    }
}

/// What a Redis says of itself.
struct RedisReadings: Sendable {
    /// The difference between Redis's clock and this host's.
    struct Clock: Hashable, Sendable {
        /// How far ahead Redis's clock is; negative if it is behind.
        var ahead: Duration
        /// The possible error: half of the round trip.
        var uncertainty: Duration
    }

    /// The name of the Redis user.
    var user: String
    /// The facts in the reply to `INFO`, by name.
    var info: Reading<[String: String]>
    /// The reply to `ROLE`: the role, and what belongs to it.
    var role: Reading<[String]>
    /// `maxmemory-clients`; empty if this Redis does not have it.
    var clientMemory: Reading<String>
    /// What the user `default` may not do of what Redis's append-only file has it do, in Redis's words; empty if nothing.
    var replay: Reading<[String]>
    /// The rights that a worker would lack.
    var shortfall: Reading<Shortfall>
    var roundTrips: Reading<[Duration]>
    var clock: Reading<Clock>
    /// `nil` on a cluster, which has no events.
    var events: Reading<EventReadings>?
}

extension RedisReadings {
    init(_ visit: RedisVisit, user: String, rights: WorkerRights, names: KeyNames, isCluster: Bool) async {
        self.user = user
        info = await visit.ask("INFO").reading(right: "info") { $0.text.map { Self.facts($0.string) } }
        role = await visit.ask("ROLE").reading(right: "role") { value in
            value.array?.map { $0.text?.string ?? $0.integer.map { "\($0)" } ?? "\($0.array?.count ?? 0)" }
        }
        clientMemory = await visit.ask("CONFIG", "GET", "maxmemory-clients").reading(right: "config|get") {
            $0.array.map { $0.last?.text?.string ?? "" }
        }
        replay = await visit.replay(of: rights)
        roundTrips = await Self.roundTrips(visit)
        clock = await Self.clock(visit)
        if !isCluster {
            do {
                events = .success(try await EventReadings(visit, names))
            } catch {
                events = .failure(error as? Unread ?? Unread(sentence: "not checked: \(error)"))
            }
        }
        // Last, because a user who may not discard the transaction stays in it.
        do {
            shortfall = .success(try await visit.shortfall(of: rights))
        } catch {
            shortfall = .failure(Unread(sentence: error.sentence))
        }
    }

    static func facts(_ info: String) -> [String: String] {
        let pairs = info.split(whereSeparator: \.isNewline).compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Measures a hundred `PING`s, one after the other; fewer if Redis is far away.
    private static func roundTrips(_ visit: RedisVisit) async -> Reading<[Duration]> {
        var taken: [Duration] = []
        let end = ContinuousClock.now + .seconds(2)
        while taken.count < 100, ContinuousClock.now < end || taken.isEmpty {
            let start = ContinuousClock.now
            if case .failure(let unread) = await visit.ask("PING").reading(right: "ping", { $0 }) {
                return .failure(unread)
            }
            taken.append(ContinuousClock.now - start)
        }
        return .success(taken)
    }

    /// Of several readings, the one with the shortest round trip counts.
    private static func clock(_ visit: RedisVisit) async -> Reading<Clock> {
        var best: Reading<Clock>?
        for _ in 0..<5 {
            let (wall, start) = (Timestamp.hostTime, ContinuousClock.now)
            let reply = await visit.ask("TIME").reading(right: "time") { Timestamp(redisTime: $0) }
            let half = (ContinuousClock.now - start) / 2
            let clock = reply.map { Clock(ahead: $0.since(wall) - half, uncertainty: half + .milliseconds(1)) }
            guard let known = try? best?.get(), let now = try? clock.get() else {
                best = clock
                continue
            }
            if now.uncertainty < known.uncertainty { best = clock }
        }
        return best ?? .failure(Unread(sentence: "not checked: no reply from Redis"))
    }
}

extension RedisVisit {
    /// Returns why the user `default` may not write what an append-only file has of workers' scripts, if so.
    func replay(of rights: WorkerRights) async -> Reading<[String]> {
        let trials = rights.writes.map { RedisCommand("ACL", arguments: [.string("DRYRUN"), .string("default")] + $0) }
        var refusals: [String] = []
        for reply in await ask(trials) {
            switch reply.reading(right: "acl|dryrun", { $0.text?.string }) {
            case .success("OK"): break
            case .success(let refusal): refusals.append(refusal)
            case .failure(let unread): return .failure(unread)
            }
        }
        return .success(refusals)
    }
}

extension Result where Success == RedisValue, Failure == RedisError {
    /// - Parameter right: The command's name in Redis's access control lists.
    func reading<Value>(right: String, _ read: (RedisValue) -> Value?) -> Reading<Value> {
        switch self {
        case .success(let value):
            read(value).map { .success($0) } ?? .failure(Unread(sentence: "not checked: unexpected reply from Redis"))
        case .failure(let error) where error.isDenied: .failure(.denied(right))
        case .failure(let error): .failure(Unread(sentence: "not checked: \(error.sentence)"))
        }
    }
}

extension Result where Failure == Unread {
    /// The finding about the value; a skipped check if there is none.
    fileprivate func judged(_ check: Check, _ judge: (Success) -> Finding) -> Finding {
        switch self {
        case .success(let value): judge(value)
        case .failure(let unread): Finding(check, .skipped, unread.sentence)
        }
    }
}

// MARK: Judging

/// Judges a Redis that answers.
struct RedisChecks {
    let readings: RedisReadings
    /// Whether the workers are configured for a cluster.
    var isCluster = false
    /// How long a token stays valid after its expiry; `nil` if tokens are not checked.
    var leeway: Duration?

    /// `events.enabled`.
    var areEventsEnabled = false
    /// The rules of `access.*`, as workers compare them.
    var accessRules = ""

    var findings: [Finding] { [version, role, persistence, eviction, clients, rights, latency, clock, access, events] }

    /// On a cluster each worker says it in its log.
    private var access: Finding {
        readings.events?.judged(.access) { $0.accessFinding(accessRules) }
            ?? Finding(.access, .ok, "the rules are \(accessRules)")
    }

    private var events: Finding {
        readings.events?.judged(.events) { $0.finding(isEnabled: areEventsEnabled) } ?? EventReadings.unused
    }

    private var version: Finding {
        readings.info.judged(.version) { info in
            if let valkey = info["valkey_version"] { return Finding(.version, .ok, "Valkey \(valkey)") }
            guard let text = info["redis_version"] else { return Finding(.version, .skipped, "not reported by Redis") }
            let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
            guard !numbers.lexicographicallyPrecedes([6, 2]) else {
                return Finding(
                    .version, .failure, "Redis \(text), which lacks commands that workers need",
                    advice: "use Redis 6.2 or later, or Valkey")
            }
            return Finding(.version, .ok, "Redis \(text)")
        }
    }

    private var role: Finding {
        if let refusal = (try? readings.shortfall.get())?.refusal, !refusal.hasPrefix("READONLY") {
            return Finding(
                .role, .failure, "a primary that refuses writes: \(refusal)",
                advice: "find out what it lacks: replicas (min-replicas-to-write), disk space or memory")
        }
        if let info = try? readings.info.get(), info["cluster_enabled"] == "1", !isCluster {
            return Finding(
                .role, .failure, "a node of a Redis Cluster, which has only some of the keys",
                advice: "set redis.url to redis+cluster://HOST:PORT, which finds the others")
        }
        return readings.role.judged(.role) { role in
            switch role.first {
            case "sentinel":
                return Finding(
                    .role, .failure, "a Sentinel, which keeps no keys",
                    advice:
                        "set redis.url to redis+sentinel://HOST:PORT/NAME, with the primary's name in the sentinel")
            case "slave" where role.count > 2:
                return Finding(
                    .role, .failure, "a replica of \(role[1]):\(role[2]), which refuses writes",
                    advice: "set redis.url to the primary, redis://\(role[1]):\(role[2])")
            case "master":
                let count = role.last.flatMap { Int($0) } ?? 0
                return Finding(
                    .role, .ok,
                    count == 0
                        ? "a primary without replicas" : "a primary with \(count) replica\(count == 1 ? "" : "s")")
            default: return Finding(.role, .skipped, "not checked: unexpected reply from Redis")
            }
        }
    }

    /// Redis loads what scripts wrote as the user `default`, and drops each transaction that this user may not execute:
    /// redis/redis#14541.
    private var persistence: Finding {
        readings.info.judged(.persistence) { info in
            guard let file = info["aof_enabled"] else {
                return Finding(.persistence, .skipped, "Redis does not report it")
            }
            guard file != "0" else {
                return Finding(
                    .persistence, .warning,
                    "no append-only file: a restart of Redis loses members and what people decided, or what has changed of them "
                        + "since the last snapshot",
                    advice: "appendonly yes, or have your servers repeat their PUTs after a loss")
            }
            return readings.replay.judged(.persistence) { refusals in
                guard let first = refusals.first else {
                    return Finding(.persistence, .ok, "after a restart Redis loads all of its append-only file")
                }
                return Finding(
                    .persistence, .failure,
                    "Redis loads its append-only file as the user default, which lacks rights (\(first)): "
                        + "a restart loses members, presence and events",
                    advice:
                        "before the next restart, ACL SETUSER default off ~* &* +@all, and the same line in the ACL file: "
                        + "off keeps everybody from logging in as default")
            }
        }
    }

    private var eviction: Finding {
        readings.info.judged(.eviction) { info in
            guard let policy = info["maxmemory_policy"] else {
                return Finding(.eviction, .skipped, "Redis does not report it")
            }
            if policy == "noeviction" { return Finding(.eviction, .ok, "noeviction: it deletes no keys to make room") }
            let advice = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf"
            guard info["maxmemory"] != "0" else {
                return Finding(
                    .eviction, .warning, "\(policy), which does nothing while maxmemory is 0", advice: advice)
            }
            let evicted = info["evicted_keys"] ?? "0"
            return Finding(
                .eviction, .failure,
                "\(policy): to make room it deletes keys\(evicted == "0" ? "" : " (\(evicted) keys are gone already)")."
                    + " Then connected users appear offline or members cannot join, without any error",
                advice: advice)
        }
    }

    /// Redis disconnects those of its clients that take the most memory, and tells nobody why.
    private var clients: Finding {
        let evicted = (try? readings.info.get())?["evicted_clients"] ?? "0"
        let advice = "CONFIG SET maxmemory-clients 0, and the same in redis.conf, or a limit that no worker meets"
        guard evicted == "0" else {
            return Finding(
                .clients, .warning,
                "Redis has disconnected \(evicted) clients to free memory (maxmemory-clients), workers perhaps among them",
                advice: advice)
        }
        return readings.clientMemory.judged(.clients) { limit in
            ["", "0"].contains(limit)
                ? Finding(.clients, .ok, "Redis disconnects no clients to free memory")
                : Finding(
                    .clients, .warning,
                    "maxmemory-clients is \(limit): above it Redis disconnects clients, those with the most subscriptions first",
                    advice: advice)
        }
    }

    private var rights: Finding {
        readings.shortfall.judged(.rights) { shortfall in
            let user = "the user \(readings.user)"
            let file = RedisDeployment.rightsFile(ofCluster: isCluster)
            if shortfall.refusal?.hasPrefix("READONLY") == true {
                return Finding(.rights, .skipped, "not checked: a replica does not report them")
            }
            let (spared, needed) = (shortfall.spared, shortfall.needed)
            guard needed.commands.isEmpty else {
                return Finding(
                    .rights, .failure, needed.sentence ?? "",
                    advice: "remove rename-command, and use ACLs to keep other users from these commands")
            }
            let missing = needed.rights
            guard !missing.isEmpty else {
                guard spared.isEmpty else {
                    let effects = spared.map { "\($0.name) (\($0.without))" }.joined(separator: ", ")
                    return Finding(.rights, .warning, "workers do without \(effects)")
                }
                // A user who can ask for everything has more than the minimum rights.
                guard case .success = readings.clientMemory else {
                    return Finding(.rights, .ok, "\(user) has all rights that a worker needs")
                }
                return Finding(
                    .rights, .ok,
                    "\(user) has all rights that a worker needs, and more; \(file) has a user with only these rights")
            }
            // A user who can write nothing was probably created for the doctor, not for workers.
            let isReadOnly =
                missing.contains(.command("evalsha"))
                && (shortfall.rights.contains(.command("multi"))
                    || ["hset", "set", "zadd"].allSatisfy { missing.contains(.command($0)) })
            if isReadOnly, case .success = readings.info {
                return Finding(
                    .rights, .skipped,
                    "\(user) is read-only; run the doctor as the workers' user to check its rights")
            }
            let rules = missing.map(\.description).joined(separator: " ")
            return Finding(
                .rights, .failure, "\(user) lacks rights that a worker needs: \(rules)",
                advice: "Redis's administrator can run ACL SETUSER \(readings.user) \(rules); "
                    + "\(file) lists all that a worker needs")
        }
    }

    /// Above these, users notice that typing is late; far above, leases expire.
    private static let (slowMedian, slowMost) = (Duration.milliseconds(5), Duration.milliseconds(100))

    private var latency: Finding {
        readings.roundTrips.judged(.latency) { taken in
            let sorted = taken.sorted()
            guard let most = sorted.last else { return Finding(.latency, .skipped, "nothing was measured") }
            let (median, high) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            let found =
                "p50 \(Self.text(median)), p99 \(Self.text(high)), at most \(Self.text(most)) over "
                + "\(sorted.count) PING\(sorted.count == 1 ? "" : "s")"
            guard median > Self.slowMedian || most > Self.slowMost else { return Finding(.latency, .ok, found) }
            return Finding(
                .latency, .warning, found + ": every typing signal waits that long",
                advice: "put Redis near the workers, and make sure that it has a CPU core to itself and that no other "
                    + "program runs scripts or slow commands there")
        }
    }

    /// The clock difference above which an operator should know.
    private static let clocksApart = Duration.milliseconds(500)

    private var clock: Finding {
        readings.clock.judged(.clock) { clock in
            let apart = clock.ahead < .zero ? .zero - clock.ahead : clock.ahead
            guard apart > clock.uncertainty else {
                return Finding(
                    .clock, .ok, "Redis's clock and this host's agree within \(Self.text(clock.uncertainty))")
            }
            let found =
                "Redis's clock is \(apart >= .seconds(10) ? apart.spoken : Self.text(apart)) "
                + "\(clock.ahead < .zero ? "behind" : "ahead of") this host's"
            let certain = apart - clock.uncertainty
            guard certain > Self.clocksApart else { return Finding(.clock, .ok, found) }
            let breaksTokens = leeway.map { certain > $0 } ?? false
            return Finding(
                .clock, breaksTokens ? .failure : .warning,
                found
                    + (breaksTokens
                        ? ", more than auth.leeway: tokens count longer than they should, and revocations may refuse new ones"
                        : ""),
                advice: "run NTP on both: presence uses Redis's clock, logs this host's, and tokens both")
        }
    }

    /// Milliseconds, with more digits for small values.
    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds >= 10 { return "\(Int(milliseconds.rounded())) ms" }
        let digits = milliseconds >= 1 ? 10.0 : 100
        return "\((milliseconds * digits).rounded() / digits) ms"
    }
}

/// Explains why Redis cannot be reached or refuses the login, and what to do.
struct ReachCheck {
    let deployment: RedisDeployment

    var reached: Finding {
        guard deployment.password == nil, !deployment.isHere else {
            return Finding(.redis, .ok, "it answers at \(deployment)")
        }
        return Finding(
            .redis, .warning,
            "it answers at \(deployment) without a password: anyone who can reach it can read and write everything",
            advice: "give it users (Config/redis.acl), and let only the workers reach its port")
    }

    func failed(_ error: any Error) -> Finding {
        let (found, advice) = verdict(on: error)
        return Finding(.redis, .failure, "\(deployment): \(found)", advice: advice)
    }

    private func verdict(on error: any Error) -> (found: String, advice: String) {
        guard let error = error as? RedisError else { return ("\(error)", "set redis.url to the address of Redis") }
        let answer = error.reply?.string ?? error.sentence
        if let failure = error.underlying as? TLSFailure { return (failure.description, failure.advice) }
        return switch error.code {
        case .authentication where deployment.hasSentinels && error.sentence.contains("sentinel"):
            (error.sentence, "set redis.sentinel_user and redis.sentinel_password_file to a user of the sentinels")
        case .connectFailed where deployment.hasSentinels, .server(kind: "READONLY"):
            (error.sentence, "start the sentinels, or correct redis.url; during a failover, check again soon")
        case .connectFailed: (Self.network(error.underlying), "start Redis there, or set redis.url to its address")
        case .timedOut:
            (
                "the server accepts connections but does not answer",
                "it may be stopped or busy with a long command (redis-cli SLOWLOG GET), or not be a Redis"
            )
        case .authentication where deployment.password == nil:
            ("it asks for a password", "set redis.password_file, and the user in redis.url (redis://user@host)")
        case .authentication:
            (
                "it refuses the password of the user \(deployment.username ?? "default") (\(answer))",
                "set redis.password_file and the user in redis.url; ACL LIST lists the users"
            )
        case .server(kind: "LOADING"):
            ("it is loading its data into memory", "wait until it is done; workers wait for redis.connect_timeout")
        case .server(kind: "MASTERDOWN"):
            ("a replica that has lost its primary", "set redis.url to the primary")
        case .server(kind: "DENIED"):
            ("it accepts only local connections (protected mode)", "set a password and bind it to its network")
        case .server: ("it answers: \(answer)", "check Redis's log")
        case .protocolError, .connectionLost:
            (
                "the server does not speak Redis's protocol",
                "check whether the port belongs to another service, or needs TLS (rediss://)"
            )
        case .notConnected, .tooManyWaiting, .closed, .primaryChanged: (error.sentence, "try again")
        }
    }

    private static func network(_ error: (any Error)?) -> String {
        switch error {
        case ChannelError.connectTimeout?: "no answer within redis.connect_timeout"
        case let error?: NetworkFailure.sentence(error)
        case nil: "no connection"
        }
    }
}

extension RedisDeployment {
    fileprivate var hasSentinels: Bool { if case .sentinel = kind { true } else { false } }

    /// Whether it is on this machine, possibly through a tunnel.
    fileprivate var isHere: Bool {
        switch kind {
        case .server(.host(let host, _)): Loopback.contains(host)
        case .server(.unix): true
        case .sentinel(let addresses, _), .cluster(let addresses):
            addresses.allSatisfy { if case .host(let host, _) = $0 { Loopback.contains(host) } else { true } }
        }
    }
}
