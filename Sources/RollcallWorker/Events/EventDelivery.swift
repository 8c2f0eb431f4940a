// Delivers events to the app's webhook: in order, again until it has taken them, and by one worker at a time. What it
// knows is in Redis, so that any worker can go on.

import CoreMetrics
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import RollcallProtocol
import RollcallRedis
import RollcallServer

/// Follows the stream of events for one worker.
final class EventDelivery {
    enum Result: String, CaseIterable {
        case delivered
        /// The status was not 2xx.
        case refused
        /// The request was sent, and there was no complete answer: none in time, or the connection ended.
        case late
        /// The request could not be sent.
        case unreachable
    }

    private enum Pace {
        /// How often the stream is read by who delivers, and how often others try to claim.
        static let look = Duration.milliseconds(250), claim = Duration.seconds(1)
        /// How much longer than a delivery a claim lasts: until another worker goes on after this one was killed.
        static let spare = Duration.seconds(5)
        /// How long a worker that stops waits for the answer to its last delivery.
        static let last = Duration.seconds(10)
        /// How often the number of entries and the other workers are looked at.
        static let survey = Duration.seconds(10)
    }

    /// How often in a row this worker fails before another one that asks may deliver.
    private static let patience = 5

    private let webhook: WorkerConfiguration.Webhook
    private let claimant: String
    private let node: Node
    private let keys: FollowedFiles<WebhookKeys?>
    private let logger: Logger
    private let entries: any MeterHandler
    private let age: any MeterHandler
    private let results: [Result: any CounterHandler]
    private let replacements: any CounterHandler

    /// What was delivered and is not noted in Redis yet.
    private var delivered: EventID?
    /// Whether this worker holds the claim, and what it has noted there of its attempts.
    private var claimed: (notes: String, failures: Int)?
    private var attempts = DeliveryAttempts()
    /// Redis's time, when it was read.
    private var clock = (time: Timestamp.hostTime, at: ContinuousClock.now)
    /// What is to be delivered behind a position; the same again after a failure, unless there were too many.
    private var batch: (position: EventID, size: Int, page: EventsPage)?
    private var nextSurvey = ContinuousClock.now
    private var problem = RepeatedProblem()
    /// Why the stream or the claim could not be used.
    private var trouble = RepeatedProblem()
    private var mix = RepeatedProblem()

    init(_ configuration: WorkerConfiguration, node: Node, metrics: any MetricsFactory, logger: Logger) {
        webhook = configuration.events.webhook
        claimant = "\(configuration.worker.id).\(String(UInt64.random(in: 0...(.max)), radix: 16))"
        self.node = node
        self.logger = logger
        keys = WebhookKeys.followed(
            "events.webhook.secret_file", webhook.secretFile, webhook.secret, logger: logger)
        entries = metrics.makeMeter(label: Metric.events.rawValue, dimensions: [])
        age = metrics.makeMeter(label: Metric.webhookAge.rawValue, dimensions: [])
        results = Dictionary(
            uniqueKeysWithValues: Result.allCases.map { result in
                let labels = [("result", result.rawValue)]
                return (result, metrics.makeCounter(label: Metric.webhookDeliveries.rawValue, dimensions: labels))
            })
        replacements = metrics.makeCounter(label: Metric.webhookReplaced.rawValue, dimensions: [])
        age.set(webhook.url == nil ? 0 : .nan)
    }

    /// Delivers until the task is cancelled. Completes the delivery in progress, and then lets another worker continue.
    func run() async {
        while !Task.isCancelled {
            await survey()
            let pause = webhook.url == nil ? Pace.claim : await step()
            if pause > .zero { try? await Task.sleep(for: pause) }
        }
        guard webhook.url != nil else { return }
        // If it fails, the claim ends by itself.
        _ = try? await claim(for: .zero)
    }

    /// Takes one step, and returns when to take the next one. What cannot be known is no age.
    private func step() async -> Duration {
        do {
            let pause = try await deliver()
            trouble.ended()
            return pause
        } catch {
            age.set(Double.nan)
            if trouble.occurred("\(error)", at: .now), !Task.isCancelled {
                logger.warning("events cannot be delivered", metadata: ["reason": "\(error)"])
            }
            return Pace.claim
        }
    }

    private var now: Timestamp { clock.time.advanced(by: clock.at.duration(to: .now)) }

    /// Claims the delivery, and notes what has happened since the last claim.
    ///
    /// - Returns: what was delivered last; `nil` if another worker delivers.
    private func claim(for duration: Duration) async throws -> EventID? {
        let isOffered = claimed.map { $0.failures >= Self.patience } == true && attempts.rest(at: now) > .zero
        let notes = attempts.text
        let claim = try await node.claimDelivery(
            by: claimant, for: duration, delivered: delivered, isOffered: isOffered,
            notes: notes == claimed?.notes ? nil : notes)
        delivered = nil
        guard let claim else {
            (claimed, batch) = (nil, nil)
            return nil
        }
        clock = (claim.time, .now)
        if claimed == nil {
            attempts = DeliveryAttempts(claim.notes)
            claimed = (attempts.text, 0)
        }
        claimed?.notes = notes
        return claim.position
    }

    /// Takes one step.
    ///
    /// - Returns: when to take the next one.
    /// - Throws: ``Unavailable``.
    private func deliver() async throws -> Duration {
        let begun = ContinuousClock.now
        guard let position = try await claim(for: webhook.timeout + Pace.spare) else {
            age.set(0.0 as Double)
            return Pace.claim
        }
        keys.look()
        if batch?.position != position || batch?.size != attempts.size {
            batch = try await page(behind: position).map { (position, attempts.size, $0) }
        }
        guard let batch else {
            age.set(0.0 as Double)
            return Pace.look
        }
        if let oldest = batch.page.events.first(where: { $0.id > .start }) {
            age.set(Double(now.since(oldest.at).milliseconds) / 1000)
        }
        let rest = attempts.rest(at: now)
        guard rest <= .zero else { return min(rest, Pace.claim) }
        // Whoever was stopped meanwhile may not hold the claim any more.
        guard begun.duration(to: .now) < Pace.spare else { return .zero }
        if !batch.page.events.isEmpty {
            guard await send(batch.page, behind: position) else {
                if attempts.isOtherDue { try await tryOther(instead: batch.page.next, since: begun) }
                return .zero
            }
        }
        (delivered, self.batch) = (batch.page.next, nil)
        attempts.delivered()
        claimed?.failures = 0
        return .zero
    }

    /// What to deliver; `nil` for nothing. It begins with a reset where entries behind the position are missing, or were
    /// never delivered. In place of an event that the webhook never takes there is a reset.
    private func page(behind position: EventID) async throws -> EventsPage? {
        guard var page = try await node.eventsPage(after: position, limit: attempts.size), page.next != position else {
            return nil
        }
        if let index = page.events.firstIndex(where: { $0.id == attempts.replaced }) {
            page.events[index] = Event(id: page.events[index].id, content: .reset, at: page.events[index].at)
        }
        let begins = position == .start && page.events.first?.content != .reset
        return begins ? page.afterReset(at: page.events.first?.at ?? Timestamp(milliseconds: 0)) : page
    }

    /// - Returns: whether the webhook took it.
    private func send(_ page: EventsPage, behind position: EventID) async -> Bool {
        let id = "events_\(position)_\(page.next)" + (attempts.replaced == nil ? "" : "_reset")
        let begun = now
        let (failure, reason) = await attempt(page, id: id)
        guard !Task.isCancelled || failure == nil else { return false }
        results[Result(failure)]?.increment(by: 1)
        guard let failure else {
            if attempts.failures > 0 {
                logger.notice("the webhook takes events again", metadata: ["attempts": "\(attempts.failures + 1)"])
            }
            problem.ended()
            return true
        }
        // A reset that was added has no entry.
        let count = page.events.count { $0.id > .start }
        attempts.failed(failure, of: count, at: begun, chance: .random(in: 0...1))
        claimed?.failures += 1
        if problem.occurred("\(failure) \(reason)", at: .now) {
            logger.warning(
                "the webhook does not take events; they are delivered later",
                metadata: [
                    "result": "\(Result(failure).rawValue)", "reason": "\(reason)", "attempts": "\(attempts.failures)",
                    "webhook_id": "\(id)",
                ])
        }
        return false
    }

    /// Posts the event behind one that is never taken, alone. If it is taken, the fault is in the first, and a reset takes its
    /// place: the receiver reads again what it says.
    private func tryOther(instead first: EventID, since begun: ContinuousClock.Instant) async throws {
        guard let other = try await node.eventsPage(after: first, limit: 1), other.next != first,
            begun.duration(to: .now) < webhook.timeout + Pace.spare
        else { return }
        // The claim covers one delivery.
        guard try await claim(for: webhook.timeout + Pace.spare) != nil else { return }
        let failure = await attempt(other, id: "events_\(first)_\(other.next)_alone").failure
        attempts.otherTried(wasTaken: failure == nil, instead: first)
        guard failure == nil else { return }
        batch = nil
        replacements.increment(by: 1)
        logger.error(
            "the webhook never takes one event; a reset takes its place", metadata: ["event": "\(first)"])
    }

    private func attempt(_ page: EventsPage, id: String) async -> (failure: DeliveryAttempts.Failure?, reason: String) {
        guard let address = webhook.url.flatMap(HTTPAddress.init), let keys = keys.value else {
            return (.unreachable, "events.webhook.url or its secret cannot be used")
        }
        do {
            var client = try HTTPClient(address, authority: webhook.authority, isBeside: false)
            (client.deadline, client.wantsBody) = (webhook.timeout, false)
            let body = ByteBuffer(bytes: WebhookBody(events: page.events).jsonText)
            let headers = keys.headers(id: id, at: now, body: body)
            // Not cancelled with this task: a delivery that the server has accepted would be repeated after each restart.
            let answer = Task { [client] in try await client.send(.POST, address.uri, headers: headers, body: body) }
            return Self.judged(
                try await withTaskCancellationHandler {
                    try await answer.value
                } onCancel: {
                    Task {
                        try? await Task.sleep(for: Pace.last)
                        answer.cancel()
                    }
                })
        } catch let failure as HTTPClient.Failure {
            return (failure.wasSent ? .unanswered : .unreachable, "\(failure)")
        } catch {
            return (.unreachable, NetworkFailure.sentence(error))
        }
    }

    private static func judged(_ answer: HTTPClient.Answer) -> (DeliveryAttempts.Failure?, reason: String) {
        guard !(200...299).contains(answer.status.code) else { return (nil, "") }
        return (
            .refused(status: Int(answer.status.code), retryAfter: answer.retryAfter), "the response is \(answer.status)"
        )
    }

    /// Counts the entries, and looks whether each living worker appends to the stream.
    private func survey() async {
        guard .now >= nextSurvey else { return }
        nextSurvey = .now + Pace.survey
        guard let count = try? await node.eventCount(), let report = try? await node.workers() else { return }
        entries.set(count)
        let silent = report.withoutEvents.map(\.incarnation.name.string).sorted()
        if silent.isEmpty { return mix.ended() }
        guard mix.occurred(silent.joined(separator: " "), at: .now) else { return }
        logger.warning(
            "workers append no events: set events.enabled on all",
            metadata: ["workers": "\(silent.prefix(5).joined(separator: " "))", "count": "\(silent.count)"])
    }
}

/// What is delivered.
private struct WebhookBody: JSONWritable {
    let events: [Event]

    func write(to json: inout JSONWriter) {
        json.object { $0.field("events", events) }
    }
}

extension EventDelivery.Result {
    fileprivate init(_ failure: DeliveryAttempts.Failure?) {
        switch failure {
        case nil: self = .delivered
        case .refused: self = .refused
        case .unanswered: self = .late
        case .unreachable: self = .unreachable
        }
    }
}

extension WorkersReport {
    /// The living workers that append no events, if others do.
    var withoutEvents: [WorkerReport] {
        let living = workers.filter { !$0.standing(at: time).isDead }
        return living.contains(where: \.appendsEvents) ? living.filter { !$0.appendsEvents } : []
    }
}
