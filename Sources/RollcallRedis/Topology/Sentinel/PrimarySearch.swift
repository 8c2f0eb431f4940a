// Finds the primary, and detects its replacement. All sentinels are asked, twice per second and whenever one of them
// publishes an event. Their reports are compared, and the server that they name has to confirm its role.

import Logging
import NIOCore

/// Searches for the primary with a name as long as it exists. Bound to its event loop.
final class PrimarySearch: ServerSearch {
    typealias Address = RedisLocation.Address

    private let name: String
    private let client: String
    private let deployment: RedisDeployment
    private let credentials: Credentials.Source
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let found: (Address) -> Void

    private var list: SentinelList
    private var watches: [Address: SentinelWatch] = [:]
    /// The ids of the sentinels.
    private var ids: [Address: String] = [:]
    private var choice = PrimaryChoice()
    /// The server being checked, and the report that named it.
    private var visit: (at: PrimaryVisit, by: SentinelWord)?
    private var waiting: [EventLoopPromise<Address>] = []
    private var deadlines: [Scheduled<Void>] = []
    private var polls: RepeatedTask?
    private var pollCount = 0
    /// Sentinels that may answer and have not yet, since a request began to wait.
    private var unheard: Set<Address> = []
    /// Whether to wait for those sentinels although others have named a primary.
    private var isHearing = false
    /// Whether a sentinel has named a primary since a request began to wait.
    private var wasHeard = false
    private var lastError: RedisError?

    /// - Parameter found: called with the primary whenever it has confirmed its role.
    init(
        of deployment: RedisDeployment, credentials: @escaping Credentials.Source, for client: String,
        on eventLoop: any EventLoop, logger: Logger, found: @escaping (Address) -> Void
    ) {
        guard case .sentinel(let sentinels, let name) = deployment.topology else {
            preconditionFailure("sentinels are asked where there are some")
        }
        (self.name, self.deployment, self.credentials, self.client) = (name, deployment, credentials, client)
        (self.eventLoop, self.logger, self.found) = (eventLoop, logger, found)
        list = SentinelList(sentinels)
    }

    func start() {
        watchAll()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        polls = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.poll()
        }
    }

    func close() -> EventLoopFuture<Void> {
        polls?.cancel()
        visit?.at.leave()
        settle(.failure(RedisError(.closed, "the search for servers was ended")))
        let ends = watches.values.map { $0.close() }
        watches = [:]
        return EventLoopFuture.andAllComplete(ends, on: eventLoop)
    }

    private static let interval = TimeAmount.milliseconds(500)
    /// The number of requests after which sentinels are asked again for the other sentinels.
    private static let introductions = 20
    /// How long to wait for the remaining sentinels once some have answered. A stalled sentinel delays the search no
    /// longer than this.
    private static let hearing = TimeAmount.milliseconds(250)
    /// How long all sentinels may be silent before the previous primary is tried.
    private static let silence = TimeAmount.milliseconds(500)
    /// How long a request waits for the primary before it fails.
    private static let patience = TimeAmount.milliseconds(1500)
}

// MARK: Pending requests

extension PrimarySearch {
    /// Searches for the primary again, for a connection that has lost it.
    func find(_ promise: EventLoopPromise<Address>) {
        waiting.append(promise)
        guard waiting.count == 1 else { return }
        // Sentinels that are known to be down are not waited for; they report once they are back.
        unheard = Set(watches.filter { $0.value.lastError == nil }.keys)
        (isHearing, wasHeard, lastError) = (true, false, nil)
        deadlines = [
            after(Self.hearing) { $0.endHearing() }, after(Self.silence) { $0.goBack() },
            after(Self.patience) { $0.giveUp() },
        ]
        for watch in watches.values { watch.ask() }
    }

    private func after(_ time: TimeAmount, _ body: @escaping (PrimarySearch) -> Void) -> Scheduled<Void> {
        let bound = NIOLoopBound((self, body), eventLoop: eventLoop)
        return eventLoop.scheduleTask(in: time) {
            let (search, body) = bound.value
            body(search)
        }
    }

    /// Stops waiting for sentinels that have not answered. If none has, the first answer decides.
    private func endHearing() {
        isHearing = false
        decide()
    }

    /// Tries the previous primary. It may still be up while all sentinels are down, and it reports its own role.
    private func goBack() {
        if !wasHeard, visit == nil, let believed = choice.believed { look(believed) }
    }

    private func giveUp() {
        settle(.failure(lastError ?? (wasHeard ? undecided : silentSentinels)))
    }

    private var undecided: RedisError {
        RedisError(.connectFailed, "a sentinel names a primary that has not said yet whether it is one")
    }

    private var silentSentinels: RedisError {
        let asked = list.all.map { "\($0)" }.joined(separator: ", ")
        let errors = list.all.compactMap { watches[$0]?.lastError }
        let refusal = errors.first { $0.code == .authentication }
        guard let error = refusal ?? errors.first else {
            return RedisError(.connectFailed, "no sentinel answers, of \(asked)")
        }
        guard refusal == nil else {
            return RedisError(
                .authentication, command: "AUTH",
                "the sentinels \(asked) refuse redis.sentinel_user or what is in redis.sentinel_password_file",
                underlying: error.underlying)
        }
        return RedisError(
            .connectFailed, "no sentinel answers, of \(asked): \(error)", underlying: error.underlying)
    }

    private func settle(_ result: Result<Address, any Error>) {
        for deadline in deadlines { deadline.cancel() }
        let settled = waiting
        (deadlines, waiting) = ([], [])
        for promise in settled { promise.completeWith(result) }
    }
}

// MARK: Reports of sentinels

extension PrimarySearch {
    private func poll() {
        pollCount += 1
        for watch in watches.values {
            if pollCount % Self.introductions == 0 { watch.introduce() }
            watch.ask()
        }
    }

    /// Connects to the sentinels on the list, and leaves those that are no longer on it.
    private func watchAll() {
        let all = Set(list.all)
        for (sentinel, watch) in watches where !all.contains(sentinel) {
            watches[sentinel] = nil
            forget(sentinel)
            _ = watch.close()
        }
        for sentinel in list.all where watches[sentinel] == nil {
            let way = SentinelWay(sentinel, isEncrypted: deployment.isEncrypted, credentials: credentials)
            let watch = SentinelWatch(way, of: name, for: client, on: eventLoop, logger: logger) { [weak self] in
                self?.told($0, by: sentinel)
            }
            watches[sentinel] = watch
            if !waiting.isEmpty { unheard.insert(sentinel) }
            watch.start()
        }
    }

    private func told(_ news: SentinelWatch.News, by sentinel: Address) {
        guard watches[sentinel] != nil else { return }
        switch news {
        case .id(let id):
            ids[sentinel] = id
            list.identified(sentinel, as: id)
            watchAll()
        case .others(let others):
            let present = watches.filter { $0.value.lastError == nil }.keys
            list.learn(others, from: sentinel, present: Set(present))
            watchAll()
        case .word(let word):
            wasHeard = true
            choice.heard(word, from: id(of: sentinel), at: .now())
            unheard.remove(sentinel)
            decide()
        case .useless(let error):
            if watches[sentinel]?.lastError == nil { lastError = error }
            forget(sentinel)
            decide()
        }
    }

    private func id(of sentinel: Address) -> String { ids[sentinel] ?? "\(sentinel)" }

    private func forget(_ sentinel: Address) {
        choice.lost(id(of: sentinel), at: .now())
        unheard.remove(sentinel)
    }

    private func decide() {
        guard waiting.isEmpty || unheard.isEmpty || (wasHeard && !isHearing) else { return }
        if waiting.isEmpty || wasHeard {
            if let word = choice.choice(at: .now()) { consider(word) }
        } else if choice.believed == nil {
            giveUp()
        } else {
            goBack()
        }
    }
}

// MARK: Reply of the primary

extension PrimarySearch {
    private func consider(_ word: SentinelWord) {
        if waiting.isEmpty, word.primary == choice.believed?.primary {
            choice.believe(word)
        } else {
            look(word)
        }
    }

    private func look(_ word: SentinelWord) {
        if let visit, visit.by.primary == word.primary { return self.visit = (visit.at, word) }
        visit?.at.leave()
        let visit = PrimaryVisit(
            to: deployment.location(at: word.primary), credentials: credentials, for: client, on: eventLoop,
            logger: logger
        ) { [weak self] in self?.looked($0) }
        self.visit = (visit, word)
    }

    private func looked(_ error: RedisError?) {
        guard let word = visit?.by else { return }
        visit = nil
        guard let error else { return adopt(word) }
        lastError = error
        settle(.failure(error))
    }

    private func adopt(_ word: SentinelWord) {
        if choice.believed?.primary != word.primary {
            logger.info(
                "primary found",
                metadata: ["name": "\(name)", "address": "\(word.primary)", "epoch": "\(word.epoch)"])
        }
        choice.believe(word)
        found(word.primary)
        settle(.success(word.primary))
    }
}
