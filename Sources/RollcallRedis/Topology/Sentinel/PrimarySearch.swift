// Finding the primary, and hearing of the next one. All sentinels are asked, twice a second and whenever one of them
// publishes something; what they say is weighed, and the server that they name has the last word.

import Logging
import NIOCore

/// Looks for the primary of a name for as long as it lives. Bound to its event loop.
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
    /// What sentinels call themselves.
    private var ids: [Address: String] = [:]
    private var choice = PrimaryChoice()
    /// Whom one looks at, and what was said of them.
    private var visit: (at: PrimaryVisit, by: SentinelWord)?
    private var waiting: [EventLoopPromise<Address>] = []
    private var deadlines: [Scheduled<Void>] = []
    private var polls: RepeatedTask?
    private var pollCount = 0
    /// Who may answer and has not been heard since somebody began to wait.
    private var unheard: Set<Address> = []
    /// Whether those are waited for, where others have named a primary.
    private var isHearing = false
    /// Whether a sentinel has named a primary since somebody began to wait.
    private var wasHeard = false
    private var lastError: RedisError?

    /// - Parameter found: called with the primary whenever it has been looked at.
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
    /// After how many questions sentinels are asked for the others again.
    private static let introductions = 20
    /// How long one waits for the rest, where some sentinels have answered: one that stalls holds nobody up for longer.
    private static let hearing = TimeAmount.milliseconds(250)
    /// How long sentinels may be silent before one goes where the primary was.
    private static let silence = TimeAmount.milliseconds(500)
    /// How long one waits for the primary before being told that there is none.
    private static let patience = TimeAmount.milliseconds(1500)
}

// MARK: Those who wait

extension PrimarySearch {
    /// Asks for the primary anew, for whoever has lost the one that there was.
    func find(_ promise: EventLoopPromise<Address>) {
        waiting.append(promise)
        guard waiting.count == 1 else { return }
        // Who is known to be away is heard when they are back.
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

    /// Who has not answered yet is not waited for; if that is everybody, whoever answers first is believed.
    private func endHearing() {
        isHearing = false
        decide()
    }

    /// While all sentinels are away the primary may well stand, and it says itself whether it is one.
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

// MARK: What sentinels say

extension PrimarySearch {
    private func poll() {
        pollCount += 1
        for watch in watches.values {
            if pollCount % Self.introductions == 0 { watch.introduce() }
            watch.ask()
        }
    }

    /// Goes to those of the list, and leaves those that are on it no more.
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

// MARK: What the primary says

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
