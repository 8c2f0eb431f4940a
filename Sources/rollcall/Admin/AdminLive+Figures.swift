// Converts the admin port's answer for the live view.

import RollcallModel
import RollcallTerminal
import RollcallWorker

extension AdminLive {
    var figures: LiveFigures {
        var figures = LiveFigures(
            time: time, worker: worker, isReady: ready,
            redis: LiveFigures.Redis(isUp: redis.up, median: redis.p50, slow: redis.p99),
            workers: workers.map(\.figures),
            conversations: conversations.map {
                LiveFigures.Conversation($0.conversation.text, typing: $0.typing, joined: $0.joined)
            },
            events: events.map {
                LiveFigures.Event(at: $0.at, level: $0.level, message: $0.message, facts: $0.facts, times: $0.times)
            })
        figures.hostTime = hostTime
        return figures
    }
}

extension AdminWorker {
    fileprivate var figures: LiveFigures.Worker {
        var figures = LiveFigures.Worker(incarnation)
        (figures.isAlive, figures.isDraining) = (alive, draining)
        (figures.leaseEnd, figures.beat, figures.startedAt) = (leaseEnd, beat, startedAt)
        (figures.host, figures.version, figures.sessions) = (host, version, sessions)
        figures.totals = LiveFigures.Totals(
            signals: signals, published: published, delivered: delivered, cpu: cpu)
        return figures
    }
}
