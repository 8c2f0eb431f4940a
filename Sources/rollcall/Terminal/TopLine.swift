// What `rollcall top --json` prints at each interval: the worker's answer, with rates added to the totals.

import RollcallModel
import RollcallTerminal
import RollcallWorker

/// One JSON object.
struct TopLine: Encodable {
    private struct Worker: Encodable {
        let worker: AdminWorker
        let rates: LiveRates?

        enum CodingKeys: CodingKey {
            case rates
        }

        func encode(to encoder: any Encoder) throws {
            try worker.encode(to: encoder)
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encodeIfPresent(rates, forKey: .rates)
        }
    }

    private struct Problem: Encodable {
        let code: String
        let message: String
    }

    private struct Total: Encodable {
        let sessions: Int64
        let rates: LiveRates
    }

    private var time: Timestamp?
    private var hostTime: Timestamp?
    private var worker: String?
    private var ready: Bool?
    private var redis: AdminLive.Redis?
    private var total: Total?
    private var workers: [Worker]?
    private var conversations: [AdminLive.Conversation]?
    private var events: [AdminLive.Event]?
    private var problem: Problem?

    enum CodingKeys: String, CodingKey {
        case time
        case hostTime = "host_time"
        case worker, ready, redis, total, workers, conversations, events, problem
    }

    /// - Parameter moment: events up to this moment were printed before.
    init(_ outcome: Result<AdminLive, AdminFailure>, _ board: TopBoard, eventsAfter moment: Timestamp?) {
        switch outcome {
        case .failure(let failure): problem = Problem(code: failure.code, message: failure.sentences[0])
        case .success(let live):
            (time, hostTime, worker, ready, redis) = (live.time, live.hostTime, live.worker, live.ready, live.redis)
            total = Total(sessions: board.sessions, rates: board.total)
            workers = live.workers.map { Worker(worker: $0, rates: board.rates[$0.incarnation]) }
            conversations = live.conversations
            events = live.events.filter { event in moment.map { event.at > $0 } ?? true }
        }
    }
}
