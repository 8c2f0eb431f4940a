// Delivers events to the app's webhook: in order, again until it has taken them, and by one worker at a time. What it
// knows is in Redis, so that any worker can go on.

import CoreMetrics
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import RollcallProtocol
import RollcallServer

/// Follows the stream of events for one worker.
final class EventDelivery {
    enum Result: String, CaseIterable {
        case delivered
        /// The status was not 2xx.
        case refused
        /// There was no complete answer in time.
        case late
        /// The connection failed.
        case unreachable
    }

    private enum Pace {
        /// How often the stream is read by who delivers, and how often others try to claim.
        static let look = Duration.milliseconds(250), claim = Duration.seconds(1)
        /// How much longer than a delivery a claim lasts: until another worker goes on after this one was killed.
        static let spare = Duration.seconds(5)
        /// The longest pause after failures, each of which doubles it.
        static let longest = Duration.seconds(60)
        /// How often the number of entries and the other workers are looked at.
        static let survey = Duration.seconds(10)
    }

    /// The most entries in one delivery, to which a reset may be added.
    private static let most = 99
    /// The longest answer that is read.
    private static let mostBytes = 65_536

    private let webhook: WorkerConfiguration.Webhook
    private let claimant: String
    private let node: Node
    private let keys: FollowedFiles<WebhookKeys?>
    private let logger: Logger
    private let entries: any MeterHandler
    private let age: any MeterHandler
    private let results: [Result: any CounterHandler]

    /// What was delivered and is not noted in Redis yet.
    private var delivered: EventID?
    /// What is to be delivered behind a position; the same again after a failure.
    private var batch: (position: EventID, page: EventsPage)?
    private var failures = 0
    private var nextAttempt = ContinuousClock.now
    private var nextSurvey = ContinuousClock.now
    private var problem = RepeatedProblem()
    private var mix = RepeatedProblem()

    init(_ configuration: WorkerConfiguration, node: Node, metrics: any MetricsFactory, logger: Logger) {
        webhook = configuration.events.webhook
        claimant = "\(configuration.worker.id).\(String(UInt64.random(in: 0...(.max)), radix: 16))"
        self.node = node
        self.logger = logger
        keys = FollowedFiles(
            webhook.secretFile.map { [("events.webhook.secret_file", $0)] } ?? [],
            value: webhook.secret.flatMap { try? WebhookKeys($0) },
            parse: { contents throws(UnusableFile) in
                try contents.first.map { text throws(UnusableFile) in try WebhookKeys(Secret(text)) }
            },
            report: { result, _ in
                guard case .failure(let error) = result else { return }
                logger.error(
                    "a new webhook secret cannot be used; the previous one stays in use",
                    metadata: ["reason": "\(error.reason)"])
            })
        entries = metrics.makeMeter(label: Metric.events.rawValue, dimensions: [])
        age = metrics.makeMeter(label: Metric.webhookAge.rawValue, dimensions: [])
        results = Dictionary(
            uniqueKeysWithValues: Result.allCases.map { result in
                let labels = [("result", result.rawValue)]
                return (result, metrics.makeCounter(label: Metric.webhookDeliveries.rawValue, dimensions: labels))
            })
        age.set(0.0 as Double)
    }

    /// Delivers until the task is cancelled. Completes the delivery in progress, and then lets another worker continue.
    func run() async {
        while !Task.isCancelled {
            await survey()
            let pause = webhook.url == nil ? Pace.claim : (try? await deliver()) ?? Pace.claim
            if pause > .zero { try? await Task.sleep(for: pause) }
        }
        guard webhook.url != nil else { return }
        _ = try? await node.claimDelivery(by: claimant, for: .zero, delivered: delivered)
    }

    /// Takes one step.
    ///
    /// - Returns: when to take the next one.
    /// - Throws: ``Unavailable``.
    private func deliver() async throws -> Duration {
        let claimed = try await node.claimDelivery(
            by: claimant, for: webhook.timeout + Pace.spare, delivered: delivered)
        delivered = nil
        guard let position = claimed else {
            (batch, failures) = (nil, 0)
            age.set(0.0 as Double)
            return Pace.claim
        }
        keys.look()
        if batch?.position != position { batch = try await page(behind: position).map { (position, $0) } }
        guard let batch else {
            age.set(0.0 as Double)
            return Pace.look
        }
        if let oldest = batch.page.events.first(where: { $0.id > .start }) {
            age.set(Double((try await node.redisTime()).since(oldest.at).milliseconds) / 1000)
        }
        let rest = nextAttempt - .now
        guard rest <= .zero else { return min(rest, Pace.claim) }
        if !batch.page.events.isEmpty {
            guard await send(batch.page, behind: position) else { return .zero }
        }
        (delivered, self.batch, failures) = (batch.page.next, nil, 0)
        return .zero
    }

    /// What to deliver; `nil` for nothing. It begins with a reset where entries behind the position are missing, or were
    /// never delivered.
    private func page(behind position: EventID) async throws -> EventsPage? {
        guard let page = try await node.eventsPage(after: position, limit: Self.most), page.next != position else {
            return nil
        }
        let begins = position == .start && page.events.first?.content != .reset
        return begins ? page.afterReset(at: page.events.first?.at ?? Timestamp(milliseconds: 0)) : page
    }

    /// - Returns: whether the webhook took it.
    private func send(_ page: EventsPage, behind position: EventID) async -> Bool {
        let (result, reason) = await attempt(page, id: "events_\(position)_\(page.next)")
        guard !Task.isCancelled || result == .delivered else { return false }
        results[result]?.increment(by: 1)
        guard result != .delivered else {
            if failures > 0 {
                logger.notice("the webhook takes events again", metadata: ["attempts": "\(failures + 1)"])
            }
            problem.ended()
            return true
        }
        let pause = min(Pace.longest, .seconds(1) * (1 << min(failures, 6)))
        failures += 1
        nextAttempt = .now + pause * Double.random(in: 0.75...1)
        if problem.occurred("\(result) \(reason)", at: .now) {
            logger.warning(
                "the webhook does not take events; they are delivered later",
                metadata: ["result": "\(result.rawValue)", "reason": "\(reason)", "attempts": "\(failures)"])
        }
        return false
    }

    private func attempt(_ page: EventsPage, id: String) async -> (Result, reason: String) {
        guard let address = webhook.url.flatMap(HTTPAddress.init), let keys = keys.value else {
            return (.unreachable, "events.webhook.url or its secret cannot be used")
        }
        do {
            var client = try HTTPClient(address, authority: webhook.authority)
            (client.deadline, client.mostBytes) = (webhook.timeout, Self.mostBytes)
            let body = ByteBuffer(bytes: WebhookBody(events: page.events).jsonText)
            let time = Timestamp.hostTime.milliseconds / 1000
            let headers: HTTPHeaders = [
                "content-type": "application/json", "user-agent": "Rollcall/\(RollcallVersion.current)",
                "webhook-id": id, "webhook-timestamp": "\(time)",
                "webhook-signature": keys.signature(id: id, timestamp: time, body: body.readableBytesView),
            ]
            // Not cancelled with this task: a delivery that the server has accepted would be repeated after each restart.
            let answer = Task { [client] in try await client.send(.POST, address.uri, headers: headers, body: body) }
            return Self.judged(try await answer.value.status)
        } catch HTTPClient.Failure.tooLarge(_, let status) {
            return Self.judged(status)
        } catch let failure as HTTPClient.Failure {
            if case .late = failure { return (.late, "\(failure)") }
            return (.unreachable, "\(failure)")
        } catch {
            return (.unreachable, "\(error)")
        }
    }

    private static func judged(_ status: HTTPResponseStatus) -> (Result, reason: String) {
        (200...299).contains(status.code) ? (.delivered, "") : (.refused, "the response is \(status)")
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

extension WorkersReport {
    /// The living workers that append no events, if others do.
    var withoutEvents: [WorkerReport] {
        let living = workers.filter { !$0.standing(at: time).isDead }
        return living.contains(where: \.appendsEvents) ? living.filter { !$0.appendsEvents } : []
    }
}
