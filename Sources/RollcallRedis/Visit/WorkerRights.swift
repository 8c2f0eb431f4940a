// The rights in Redis that a worker needs, and which of them a user lacks.

import RollcallProtocol

extension RedisVisit {
    /// Finds the rights and commands that a worker would lack as this visit's user. `ACL DRYRUN` is made for this, but
    /// requires Redis 7 and a right that no worker should have. Instead, commands are queued in a transaction that is never
    /// executed: Redis checks the rights when it queues a command.
    package func shortfall(of rights: WorkerRights) async throws(RedisError) -> Shortfall {
        var shortfall = Shortfall()
        // Nothing else is sent before `MULTI` is known to work: outside of a transaction, the commands would be executed.
        if let refusal = try Self.refusal(await ask("MULTI")) {
            guard let lack = refusal.lack(of: "multi") else { throw refusal }
            shortfall.add(lack)
            guard case .right = lack else { return shortfall }
            // Without transactions, only one command can be checked: no script has this name. A user who may not run
            // scripts cannot be used for a worker.
            shortfall.rights.append(.command("discard"))
            if let lack = try Self.refusal(await ask("EVALSHA", "0", "0"))?.lack(of: "evalsha") { shortfall.add(lack) }
            return shortfall
        }
        let probes = rights.probes.filter { !["MULTI", "DISCARD"].contains($0.command.name) }
        // Race: the visit may have a new connection by now. So the transaction begins again, in one pipeline.
        let begin = [RedisCommand("DISCARD"), RedisCommand("MULTI")]
        let replies = await ask(begin + probes.map(\.command) + [RedisCommand("DISCARD")]).dropFirst(begin.count)
        for (probe, reply) in zip(probes, replies) {
            if let lack = try Self.refusal(reply).flatMap(probe.lack) { shortfall.add(lack) }
        }
        if let lack = try replies.last.flatMap(Self.refusal)?.lack(of: "discard") { shortfall.add(lack) }
        shortfall.rights = rights.all.filter(shortfall.rights.contains)
        return shortfall
    }

    /// Returns Redis's error reply, if it is one.
    private static func refusal(_ result: Result<RedisValue, RedisError>) throws(RedisError) -> RedisError? {
        guard case .failure(let error) = result else { return nil }
        guard error.reply != nil else { throw error }
        return error
    }
}

/// What a worker would lack in a Redis.
package struct Shortfall: Hashable, Sendable {
    /// The missing rights, in the order of ``WorkerRights/all``.
    package var rights: [RedisRight] = []
    /// The commands that this Redis does not know, because they were renamed or it is too old.
    package var commands: [String] = []
    /// Why it accepts no writes at the moment, in its own words; `nil` if it does.
    package var refusal: String?

    package init(rights: [RedisRight] = [], commands: [String] = [], refusal: String? = nil) {
        (self.rights, self.commands, self.refusal) = (rights, commands, refusal)
    }

    /// What workers do without, and what that costs.
    package var spared: [(name: String, without: String)] {
        WorkerRights.optional.filter { commands.contains($0.name) || rights.contains(Self.right(to: $0.name)) }
    }

    /// What no worker can do without.
    package var needed: Shortfall {
        let spared = spared.map(\.name)
        return Shortfall(
            rights: rights.filter { !spared.map(Self.right).contains($0) },
            commands: commands.filter { !spared.contains($0) })
    }

    /// What is missing, for people; `nil` if nothing is.
    package var sentence: String? {
        if !commands.isEmpty {
            return "this Redis does not know \(commands.joined(separator: ", ")), which workers need"
        }
        return rights.isEmpty
            ? nil : "rights that a worker needs are missing: \(rights.map(\.description).joined(separator: " "))"
    }

    private static func right(to command: String) -> RedisRight {
        .command(command.lowercased().replacing(" ", with: "|"))
    }

    mutating func add(_ lack: Lack) {
        switch lack {
        case .right(let right): rights.append(right)
        case .command(let name): if !commands.contains(name) { commands.append(name) }
        case .writing(let reason): refusal = refusal ?? reason
        }
    }
}

/// What one error reply shows to be missing.
enum Lack: Hashable {
    case right(RedisRight)
    /// A command in the form in which people write it.
    case command(String)
    case writing(String)
}

extension RedisError {
    /// Returns what is missing if this error is the reply to a command with this name.
    func lack(of name: String) -> Lack? {
        switch code {
        case .server(kind: "NOPERM"): .right(.command(name))
        case .server(kind: "NOREPLICAS"), .server(kind: "MISCONF"), .server(kind: "OOM"):
            .writing(reply?.string ?? sentence)
        case .server(kind: "ERR") where isUnknownCommand:
            .command(name.uppercased().replacing("|", with: " "))
        default: nil
        }
    }
}

// MARK: The rights

/// A right in an ACL.
package enum RedisRight: Hashable, Sendable, CustomStringConvertible {
    /// A command, or one of its subcommands, in lower case: `hset`, `script|load`.
    case command(String)
    /// All keys that match a pattern.
    case keys(String)
    /// All channels that match a pattern.
    case channels(String)

    /// The ACL rule for the right, as `ACL SETUSER` and ACL files accept it.
    package var description: String {
        switch self {
        case .command(let name): "+\(name)"
        case .keys(let pattern): "~\(pattern)"
        case .channels(let pattern): "&\(pattern)"
        }
    }
}

/// The rights that a worker needs for one prefix, and no others: for the commands that it sends, and for those in its
/// scripts, which run with the rights of the caller.
package struct WorkerRights: Sendable {
    private let names: KeyNames
    /// The same names as patterns, with `*` for the variable parts.
    private let patterns: KeyNames
    private let isOfCluster: Bool
    /// Whether the rights that only events need are among them.
    private let hasEvents: Bool

    /// - Parameters:
    ///   - isOfCluster: whether the user is on the nodes of a Redis Cluster, where there are no events.
    ///   - hasEvents: whether workers append events.
    package init(names: KeyNames, ofCluster isOfCluster: Bool = false, withEvents hasEvents: Bool = true) {
        self.names = names
        self.isOfCluster = isOfCluster
        self.hasEvents = hasEvents && !isOfCluster
        patterns = KeyNames(prefix: Self.literally(names.prefix))
    }

    /// All rights, in the order of `Config/redis.acl` or `Config/redis-cluster.acl`.
    package var all: [RedisRight] {
        keys(patterns).map { .keys($0) } + channels(patterns).map { .channels($0) }
            + (others.map(\.name) + onKeys.map(\.name) + onChannels)
            .map { .command($0) }
    }

    /// Returns the ACL file's line for a user with these rights, without the password.
    package func line(user: String) -> String {
        let rules = ["resetkeys", "resetchannels", "-@all"] + all.map(\.description)
        return "user \(user) on \(rules.joined(separator: " "))"
    }

    /// One or more commands for each right. None of them is meant to be executed.
    var probes: [RightProbe] {
        let (keys, patterns) = (keys(names), keys(patterns).map { RedisRight.keys($0) })
        let (channels, channelPatterns) = (channels(names), channels(self.patterns).map { RedisRight.channels($0) })
        let onKeys = onKeys.map { RightProbe($0.name, arguments: [keys[0]] + $0.rest, of: patterns[0]) }
        let everyKey = zip(keys, patterns).flatMap { key, pattern in
            ["exists", "del"].map { RightProbe($0, arguments: [key], of: pattern) }
        }
        let everyChannel = zip(channels, channelPatterns).flatMap { channel, pattern in
            onChannels.map { name in
                RightProbe(name, arguments: name.hasSuffix("publish") ? [channel, ""] : [channel], of: pattern)
            }
        }
        return others.map { RightProbe($0.name, arguments: $0.rest) } + onKeys + everyKey + everyChannel
    }

    /// One or more commands for each right that writes, in the form that an append-only file uses.
    package var writes: [[RedisCommand.Argument]] {
        let keys = keys(names)
        let forms = onKeys.filter { Self.writing.contains($0.name) } + [("pexpireat", ["1"])]
        return (forms.map { [$0.name, keys[0]] + $0.rest } + keys.map { ["del", $0] }).map { $0.map { .string($0) } }
    }

    private func keys(_ names: KeyNames) -> [String] {
        [
            names.typing(Self.conversation), names.typing(Self.conversation, Self.user),
            names.presence(Self.user), names.members(Self.conversation), names.here(Self.conversation),
            names.hereSince(Self.conversation), names.workers, names.worker(Self.incarnation),
            names.sessions(Self.incarnation), names.entries(Self.incarnation), names.sweeper(Self.incarnation),
            names.revoked(Self.user), names.person(Self.user), names.access(Self.conversation),
            names.accessPeople(Self.conversation),
        ] + (hasEvents ? [names.events, names.eventsState] : [])
    }

    private func channels(_ names: KeyNames) -> [String] {
        [
            Topic.typing(Self.conversation), .presence(Self.user), .members(Self.conversation),
            .here(Self.conversation), .worker(Self.incarnation),
        ].map(names.channel)
    }

    /// Escapes characters of the prefix that have a meaning in patterns.
    private static func literally(_ prefix: String) -> String {
        prefix.unicodeScalars.map { #"*?[]^\"#.unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    private static let conversation: ConversationID = any()
    private static let user: UserID = any()
    private static let incarnation = Incarnation(name: "*")

    private static func any<Kind>() -> Identifier<Kind> {
        guard let name = try? Identifier<Kind>("*") else { preconditionFailure("an asterisk is a name") }
        return name
    }
}

// The commands, each with a valid number of arguments.
extension WorkerRights {
    private typealias Form = (name: String, rest: [String])

    private var onChannels: [String] {
        ["publish", "subscribe", "unsubscribe"].map { isOfCluster ? "s\($0)" : $0 }
    }

    /// `select` is for databases other than 0, which a cluster does not have. A cluster needs commands to read its map
    /// of slots instead.
    private var others: [Form] {
        Self.everywhere
            + (isOfCluster
                ? [("cluster|info", []), ("cluster|slots", []), ("asking", [])]
                : [("select", ["0"]), ("info", ["server"]), ("role", [])])
    }

    /// `multi` and `discard` let a worker check its rights without executing anything.
    private static let everywhere: [Form] = [
        ("ping", []), ("client|setname", ["rights"]), ("multi", []), ("discard", []), ("time", []),
        ("script|load", ["return 1"]), ("eval", ["return 1", "0"]), ("evalsha", ["0", "0"]),
    ]

    /// What workers do without, where a service refuses it, and what that costs.
    static let optional = [
        (name: "MULTI", without: "rights are not checked"), (name: "DISCARD", without: "rights are not checked"),
        (name: "CLIENT SETNAME", without: "their connections have no name"),
        (name: "SCRIPT LOAD", without: "scripts are sent whole after each connect"),
        (name: "INFO", without: "after each start there may be a reset of the events too many"),
        (name: "CLUSTER INFO", without: "a node that is cut off is believed"),
        (name: "ROLE", without: "a replica is noticed only when it refuses a write"),
    ]

    /// On a cluster, the audit does not read the session list: it is on the same primary as the leases. And there are no
    /// events.
    private var onKeys: [Form] {
        Self.everyOnKeys + (isOfCluster ? [] : [("sismember", [""])]) + (hasEvents ? Self.ofEvents : [])
    }

    private static let ofEvents: [Form] = [
        ("xadd", ["*", "", ""]), ("xdel", ["1"]), ("xlen", []), ("xrange", ["-", "+"]), ("xrevrange", ["+", "-"]),
    ]

    private static let writing: Set<String> = [
        "unlink", "persist", "set", "hdel", "hset", "hsetnx", "sadd", "srem", "zadd", "zrem", "zremrangebyscore",
        "xadd", "xdel",
    ]

    private static let everyOnKeys: [Form] = [
        ("exists", []), ("del", []), ("unlink", []), ("persist", []), ("pexpire", ["1"]),
        ("get", []), ("set", ["", "PX", "1"]),
        ("hdel", [""]), ("hexists", [""]), ("hget", [""]), ("hgetall", []), ("hlen", []),
        ("hmget", [""]), ("hscan", ["0"]),
        ("hset", ["", ""]), ("hsetnx", ["", ""]), ("mget", []),
        ("sadd", [""]), ("srandmember", ["1"]), ("srem", [""]), ("sscan", ["0"]),
        ("zadd", ["1", ""]), ("zrange", ["0", "-1"]), ("zrangebyscore", ["0", "1"]), ("zrem", [""]),
        ("zremrangebyscore", ["0", "1"]), ("zscore", [""]),
    ]
}

/// A command whose denial shows that a right is missing.
struct RightProbe {
    let command: RedisCommand
    private let name: String
    /// The right to the command's key or channel.
    private let pattern: RedisRight?

    init(_ name: String, arguments: [String], of pattern: RedisRight? = nil) {
        self.name = name
        self.pattern = pattern
        let words = name.split(separator: "|").map { $0.uppercased() }
        command = RedisCommand(words[0], arguments: (words.dropFirst() + arguments).map { .string($0) })
    }

    /// Returns what this error shows to be missing. Redis's sentence distinguishes a key or channel from the command
    /// itself.
    func lack(_ refusal: RedisError) -> Lack? {
        guard let pattern, refusal.code == .server(kind: "NOPERM"), refusal.reply?.firstBytes(of: " access ") != nil
        else {
            return refusal.lack(of: name)
        }
        return .right(pattern)
    }
}
