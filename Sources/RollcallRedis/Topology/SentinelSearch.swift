// Finds the primary that sentinels name, and detects its replacement: all sentinels in the URL are asked, four times a
// second. Sentinels learn of a failover one after the other, and one that is cut off keeps naming the old primary. Each
// failover has a number, the configuration epoch. The highest epoch decides, and not the fastest reply. The server has
// the last word: each connection to it checks its role.

import Logging
import NIOCore
import RollcallProtocol

/// What a sentinel reports about the primary.
struct SentinelReport: Hashable, Sendable {
    var primary: RedisLocation.Address
    /// The epoch of the last failover it knows of; 0 before the first, or without the right to read it.
    var epoch = 0
}

/// Chooses which of the sentinels to believe.
struct PrimaryChoice {
    /// Sentinels inform each other of a failover every two seconds. If most sentinels answer for this long, and all of
    /// them with lower epochs than the one in use, the epochs were reset.
    static let renumbering = TimeAmount.seconds(10)

    /// The number of sentinels.
    let count: Int
    private(set) var current: SentinelReport?
    private var lowerSince: NIODeadline?

    init(of count: Int) { self.count = count }

    /// Chooses among the reports of the sentinels that answer. Of several primaries with the same epoch, the one with
    /// the most reports wins, and among these the current one.
    ///
    /// - Returns: whether the primary has changed.
    mutating func heard(_ reports: [SentinelReport], at now: NIODeadline) -> Bool {
        guard let newest = reports.map(\.epoch).max() else { return false }
        if let current, newest < current.epoch {
            // A minority that is cut off does not know of later failovers.
            lowerSince = reports.count * 2 > count ? lowerSince ?? now : nil
            guard let lowerSince, now - lowerSince >= Self.renumbering else { return false }
        }
        lowerSince = nil
        let candidates = reports.filter { $0.epoch == newest }
        let votes = Dictionary(grouping: candidates, by: \.primary)
        func rank(_ report: SentinelReport) -> (Int, Int, String) {
            let isCurrent = report.primary == current?.primary
            return (votes[report.primary]?.count ?? 0, isCurrent ? 1 : 0, "\(report.primary)")
        }
        let before = current?.primary
        current = candidates.max { rank($0) < rank($1) }
        return current?.primary != before
    }
}

/// Asks the sentinels for the primary with a name.
final class SentinelSearch: TopologySearch {
    private final class Sentinel {
        let address: RedisLocation.Address
        let asks: CommandConnection
        var report: SentinelReport?
        /// Why it is of no use.
        var error: RedisError?
        /// Whether its reply, or its failure, is known since the start.
        var isHeard: Bool { report != nil || error != nil }

        init(_ address: RedisLocation.Address, _ asks: CommandConnection) {
            (self.address, self.asks) = (address, asks)
        }
    }

    private let name: String
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let found: (Result<SlotMap, RedisError>) -> Void
    private let sentinels: [Sentinel]
    private var choice: PrimaryChoice
    private var polls: RepeatedTask?
    private var startedAt = NIODeadline.now()
    private var hasToldOthers = false

    private static let interval = TimeAmount.milliseconds(250)

    init(
        of name: String, at sentinels: [RedisLocation.Address], on eventLoop: any EventLoop, logger: Logger,
        connect: (RedisLocation.Address) -> CommandConnection,
        found: @escaping (Result<SlotMap, RedisError>) -> Void
    ) {
        (self.name, self.eventLoop, self.logger, self.found) = (name, eventLoop, logger, found)
        self.sentinels = sentinels.map { Sentinel($0, connect($0)) }
        choice = PrimaryChoice(of: sentinels.count)
    }

    func start() {
        startedAt = .now()
        for sentinel in sentinels {
            sentinel.asks.onConnect = { [weak self, weak sentinel] in if let sentinel { self?.ask(sentinel) } }
            sentinel.asks.onFailedAttempt = { [weak self, weak sentinel] in self?.failed(sentinel, $0) }
            sentinel.asks.onDisconnect = { [weak self, weak sentinel] in self?.failed(sentinel, $0) }
            sentinel.asks.start()
        }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        polls = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.look()
        }
    }

    func close() -> EventLoopFuture<Void> {
        polls?.cancel()
        return EventLoopFuture.andAllComplete(sentinels.map { $0.asks.close() }, on: eventLoop)
    }

    func look() {
        for sentinel in sentinels { ask(sentinel) }
        decide()
    }

    private func ask(_ sentinel: Sentinel) {
        // A stalled sentinel is not asked again and again.
        guard sentinel.asks.isConnected, sentinel.asks.waitingCount == 0 else { return }
        var facts: [ByteString: ByteString] = [:]
        // Asks for the epoch first. If a failover happens between the two commands, an old epoch with a new primary
        // does no harm. Without the right to read the epoch, the report counts with epoch 0.
        sentinel.asks.send(RedisCommand("SENTINEL", "MASTER", .string(name))) {
            if case .success(let value) = $0 { facts = Self.facts(value) }
        }
        // The address among the facts is that of the old primary until a failover is complete.
        sentinel.asks.send(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name))) { [weak self] in
            self?.answered($0, facts, by: sentinel)
        }
    }

    private func answered(
        _ answer: Result<RedisValue, RedisError>, _ facts: [ByteString: ByteString], by sentinel: Sentinel
    ) {
        switch answer {
        case .success(let value):
            guard let parts = value.array, parts.count == 2, let host = parts[0].text, !host.isEmpty,
                let port = parts[1].integer, (1...65_535).contains(port)
            else {
                return failed(
                    sentinel, RedisError(.connectFailed, "a sentinel knows no primary of the name \(name)"))
            }
            let epoch = facts["config-epoch"].flatMap { Int(decimal: $0) } ?? 0
            sentinel.report = SentinelReport(primary: .host(host.string, port: Int(port)), epoch: epoch)
            sentinel.error = nil
            let others = facts["num-other-sentinels"].flatMap { Int(decimal: $0) } ?? 0
            if others >= sentinels.count { tellOthers(of: sentinel) }
            decide()
        case .failure(let error):
            // All other errors are reported as the end of the connection.
            guard case .server = error.code else { return }
            failed(
                sentinel,
                RedisError(
                    .connectFailed, "a sentinel does not say where the primary is: \(error)", underlying: error))
        }
    }

    private func failed(_ sentinel: Sentinel?, _ error: RedisError) {
        sentinel?.report = nil
        sentinel?.error = error
        if choice.current == nil, sentinels.allSatisfy({ $0.error != nil }) { found(.failure(silent)) }
        decide()
    }

    /// The first choice waits for all sentinels, but not long for a stalled one.
    private func decide() {
        let isComplete = sentinels.allSatisfy(\.isHeard) || .now() - startedAt >= Self.interval
        guard choice.current != nil || isComplete, choice.heard(sentinels.compactMap(\.report), at: .now()),
            let current = choice.current
        else { return }
        logger.info(
            "primary found",
            metadata: ["name": "\(name)", "address": "\(current.primary)", "epoch": "\(current.epoch)"])
        found(.success(SlotMap(current.primary)))
    }

    /// No sentinel says where the primary is.
    private var silent: RedisError {
        let asked = sentinels.map { "\($0.address)" }.joined(separator: ", ")
        let errors = sentinels.compactMap(\.error)
        if let refusal = errors.first(where: { $0.code == .authentication }) {
            let sentence =
                "the sentinels \(asked) refuse redis.sentinel_user or what is in redis.sentinel_password_file"
            return RedisError(
                reply: refusal.reply ?? "", command: "AUTH", code: .authentication, sentence: sentence)
        }
        let reason = errors.first.map { ": \($0)" } ?? ""
        return RedisError(
            .connectFailed, "no sentinel answers, of \(asked)\(reason)", underlying: errors.first?.underlying)
    }

    /// Logs once which sentinels `redis.url` does not name.
    private func tellOthers(of sentinel: Sentinel) {
        guard !hasToldOthers else { return }
        hasToldOthers = true
        sentinel.asks.send(RedisCommand("SENTINEL", "SENTINELS", .string(name))) { [logger, sentinels] answer in
            let others = ((try? answer.get())?.array ?? []).map(Self.facts).compactMap { facts -> String? in
                guard let ip = facts["ip"], let port = facts["port"].flatMap({ Int(decimal: $0) }) else { return nil }
                return "\(RedisLocation.Address.host(ip.string, port: port))"
            }
            let named = sentinels.map { "\($0.address)" }
            logger.warning(
                "redis.url names fewer sentinels than there are",
                metadata: ["others": "\(others.filter { !named.contains($0) }.joined(separator: ", "))"])
        }
    }

    /// Properties, as alternating names and values.
    private static func facts(_ value: RedisValue) -> [ByteString: ByteString] {
        let texts = (value.array ?? []).map { $0.text ?? "" }
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        return Dictionary(pairs) { first, _ in first }
    }
}
