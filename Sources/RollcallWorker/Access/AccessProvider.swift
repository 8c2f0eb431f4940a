// Asks the app's server who may join conversations without members: the setting `access.url`. What is asked when is decided
// by ``AccessQueue``; here is the network.

import CoreMetrics
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RollcallCore
package import RollcallProtocol
import RollcallServer

/// Asks for one worker, on one event loop.
package final class AccessProvider: Sendable {
    enum Result: String, CaseIterable {
        case allowed, denied
        /// There was no answer that could be used.
        case unanswered
    }

    /// What is known of a question, for operators.
    struct Report: Sendable {
        /// How often it failed alone; `nil` if it is not asked.
        var failures: Int?
        /// Why the last request failed, and when; `nil` once one succeeded.
        var problem: (reason: String, at: Date)?
    }

    private struct State {
        var queue = AccessQueue()
        var timer: Scheduled<Void>?
        var problem: (reason: String, at: Date)?
        /// When a problem was logged, whatever it was: those who ask for much, or for what fails, fill no log.
        var told = RepeatedProblem()
        var isTold = false
    }

    /// The most bytes of an answer.
    static let mostBytes = 256 * 1024

    let eventLoop: any EventLoop
    private let settings: WorkerConfiguration.Access
    private let state: NIOLoopBoundBox<State>
    private let node: Node
    /// Made once, and again after a failure: the files of TLS may have changed.
    private let client = NIOLockedValueBox<HTTPClient?>(nil)
    private let keys: FollowedFiles<WebhookKeys?>
    private let logger: Logger
    private let results: [Result: any CounterHandler]
    private let waiting: any MeterHandler
    private let time: any TimerHandler

    init(
        _ settings: WorkerConfiguration.Access, node: Node, metrics: any MetricsFactory, on eventLoop: any EventLoop,
        logger: Logger
    ) {
        (self.settings, self.node, self.eventLoop, self.logger) = (settings, node, eventLoop, logger)
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
        keys = WebhookKeys.followed("access.secret_file", settings.secretFile, settings.secret, logger: logger)
        results = Dictionary(
            uniqueKeysWithValues: Result.allCases.map {
                let labels = [("result", $0.rawValue)]
                return ($0, metrics.makeCounter(label: Metric.accessQuestions.rawValue, dimensions: labels))
            })
        waiting = metrics.makeMeter(label: Metric.accessWaiting.rawValue, dimensions: [])
        time = metrics.makeTimer(label: Metric.accessTime.rawValue, dimensions: [])
    }

    private static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    /// Asks for the shard of this number or, without a need, no longer.
    func ask(_ question: AccessQuestion, _ need: AccessQueue.Need?, for shard: Int) {
        eventLoop.execute { [self] in
            guard let need else { return state.value.queue.withdraw(question, for: shard) }
            if let known = state.value.queue.ask(question, need, for: shard, at: Self.now) { node.answered([known]) }
            send()
        }
    }

    func report(on question: AccessQuestion) async throws -> Report {
        try await eventLoop.submit { [self] in
            Report(failures: state.value.queue.failures(of: question), problem: state.value.problem)
        }.get()
    }

    /// Sends what there is to send, and comes back when there is more.
    private func send() {
        while let batch = state.value.queue.next(at: Self.now) {
            Task { [self] in
                let begun = NIODeadline.now()
                let answer = await answer(to: batch.questions)
                time.recordNanoseconds((.now() - begun).nanoseconds)
                eventLoop.execute { self.came(answer, to: batch) }
            }
        }
        waiting.set(Int64(state.value.queue.count))
        state.value.timer?.cancel()
        state.value.timer = state.value.queue.wakes.map { wakes in
            let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, wakes.nanoseconds)))
            return eventLoop.scheduleTask(deadline: deadline) { [weak self] in self?.send() }
        }
    }

    private func came(_ answer: Swift.Result<AccessAnswers, AccessFailure>, to batch: AccessQueue.Batch) {
        var reason: String?
        switch answer {
        case .failure(let failure):
            results[.unanswered]?.increment(by: Int64(batch.questions.count))
            reason = failure.reason
            state.value.queue.failed(batch, failure.failure, at: Self.now, chance: .random(in: 0...1))
        case .success(let answers):
            let verdicts = state.value.queue.answered(batch, answers.usable, at: Self.now)
            let allowed = answers.usable.values.count { if case .allow = $0 { true } else { false } }
            results[.allowed]?.increment(by: Int64(allowed))
            results[.denied]?.increment(by: Int64(answers.usable.count - allowed))
            results[.unanswered]?.increment(by: Int64(batch.questions.count - answers.usable.count))
            reason = answers.problem
            node.answered(verdicts)
        }
        tell(reason)
        send()
    }

    private func tell(_ reason: String?) {
        guard let reason else {
            if state.value.isTold { logger.notice("the app's server answers again who may join") }
            (state.value.problem, state.value.isTold) = (nil, false)
            return
        }
        state.value.problem = (reason, .now)
        guard state.value.told.occurred("", at: .now) else { return }
        state.value.isTold = true
        logger.warning(
            "the app's server does not answer who may join; these joins wait, and nobody else is let in or put out",
            metadata: ["reason": "\(reason)", "waiting": "\(state.value.queue.count)"])
    }

    private func answer(to questions: [AccessQuestion]) async -> Swift.Result<AccessAnswers, AccessFailure> {
        keys.look()
        do {
            let client = try client.withLockedValue { current in
                let client = try current ?? Self.client(settings)
                current = client
                return client
            }
            let answer = try await Self.post(
                questions, with: client, keys: keys.value, at: (try? await node.redisTime()) ?? .hostTime)
            return .success(try answer.body.withUnsafeReadableBytes { try AccessAnswers($0, to: questions) })
        } catch let failure as AccessFailure {
            return .failure(failure)
        } catch let failure as HTTPClient.Failure where failure.wasSent {
            return .failure(AccessFailure(.unusable, "\(failure)"))
        } catch {
            client.withLockedValue { $0 = nil }
            return .failure(
                AccessFailure(.away(retryAfter: nil), "it cannot be reached: \(NetworkFailure.sentence(error))"))
        }
    }

    static func client(_ settings: WorkerConfiguration.Access) throws -> HTTPClient {
        guard let address = settings.url.flatMap(HTTPAddress.init) else {
            throw AccessFailure(.away(retryAfter: nil), "access.url cannot be used")
        }
        var client = try HTTPClient(address, authority: settings.authority, isBeside: false)
        (client.deadline, client.mostBytes) = (settings.timeout, mostBytes)
        return client
    }

    /// Posts questions, and returns an answer with status 200.
    ///
    /// - Throws: ``AccessFailure`` for another status; errors of the network.
    static func post(
        _ questions: [AccessQuestion], with client: HTTPClient, keys: WebhookKeys?, at now: Timestamp
    ) async throws -> HTTPClient.Answer {
        guard let keys else { throw AccessFailure(.away(retryAfter: nil), "the secret of access.url cannot be used") }
        let body = ByteBuffer(bytes: AccessQuestions(questions: questions).jsonText)
        let id = "access_\(String(UInt64.random(in: 0...(.max)), radix: 16))"
        let answer = try await client.send(
            .POST, client.address.uri, headers: keys.headers(id: id, at: now, body: body), body: body)
        switch answer.status.code {
        case 200: return answer
        case 401...404, 429, 503:
            throw AccessFailure(.away(retryAfter: answer.retryAfter), "the response is \(answer.status)")
        default: throw AccessFailure(.unusable, "the response is \(answer.status)")
        }
    }
}

/// Why questions have no answer.
struct AccessFailure: Error {
    var failure: AccessQueue.Failure
    var reason: String

    init(_ failure: AccessQueue.Failure, _ reason: String) {
        (self.failure, self.reason) = (failure, reason)
    }
}

// MARK: Messages

private struct AccessQuestions: JSONWritable {
    let questions: [AccessQuestion]

    func write(to json: inout JSONWriter) {
        json.object { $0.field("questions", questions) }
    }
}

extension AccessQuestion: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.field("user", user)
            $0.field("conversation", conversation)
        }
    }
}

/// The answers that can be used: none to what was not asked, and none where two say different things.
struct AccessAnswers {
    private(set) var usable: [AccessQuestion: AccessAnswer] = [:]
    /// Why some cannot be used.
    private(set) var problem: String?

    /// - Throws: ``AccessFailure`` if it is no list of answers.
    init(_ text: UnsafeRawBufferPointer, to questions: [AccessQuestion]) throws {
        let items: [AccessItem]
        do throws(UnexpectedJSON) {
            guard let json = JSONValue(object: text) else { throw UnexpectedJSON("it is not JSON") }
            items = try json.field("answers")
        } catch {
            throw AccessFailure(.unusable, "the answer cannot be read: \(error)")
        }
        let asked = Set(questions)
        var contradicted: Set<AccessQuestion> = []
        for item in items {
            guard let question = item.question, asked.contains(question) else {
                problem =
                    problem ?? item.problem ?? "an answer is about a user and a conversation that were not asked about"
                continue
            }
            guard let answer = item.answer else {
                problem = problem ?? item.problem
                contradicted.insert(question)
                continue
            }
            if usable[question] ?? answer != answer {
                problem = problem ?? "two answers to one question differ"
                contradicted.insert(question)
            }
            usable[question] = answer
        }
        for question in contradicted { usable[question] = nil }
        if usable.count < asked.count { problem = problem ?? "some questions have no answer" }
    }
}

/// One answer, as far as it can be read.
private struct AccessItem: JSONReadable {
    var question: AccessQuestion?
    var answer: AccessAnswer?
    var problem: String?

    private static let allowed = (usual: Int64(3_600_000), range: Int64(10_000)...86_400_000)
    private static let denied = (usual: Int64(5000), range: Int64(1000)...60_000)
    private static let mostPeople = 100

    init(json: JSONValue) {
        do throws(UnexpectedJSON) {
            question = AccessQuestion(user: try json.field("user"), conversation: try json.field("conversation"))
            guard let isAllowed: Bool = try json.optionalField("allow") else {
                throw UnexpectedJSON("\"allow\" is null or missing: the server cannot say")
            }
            let bounds = isAllowed ? Self.allowed : Self.denied
            let given: Double? = try json.optionalField("for")
            let time = given.map { Int64(max(0, min($0, 1e15))) } ?? bounds.usual
            let duration = Duration.milliseconds(max(bounds.range.lowerBound, min(time, bounds.range.upperBound)))
            let people: [UserID]? = try json.optionalField("people")
            guard people?.count ?? 0 <= Self.mostPeople else {
                throw UnexpectedJSON("\"people\" names more than \(Self.mostPeople)")
            }
            answer = isAllowed ? .allow(for: duration, people: people) : .deny(for: duration)
        } catch {
            problem = "an answer cannot be used: \(error)"
        }
    }
}
