// What is reported of the edge.

internal import Metrics

struct EdgeTapes {
    private let factory: any MetricsFactory
    private var accepted, receivedFrames, sentFrames, receivedBytes, sentBytes: CounterTape
    private var behind, handshakes: GaugeTape
    private var refused: [(reason: RefusalReason, tape: CounterTape)]
    private var limits: [String: CounterTape] = [:]
    /// Of each way to end, from the first time on.
    private var closed: [Closing: CounterTape] = [:]

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        accepted = CounterTape(.connectionsAccepted, in: factory)
        receivedFrames = CounterTape(.framesReceived, in: factory)
        sentFrames = CounterTape(.framesSent, in: factory)
        receivedBytes = CounterTape(.bytesReceived, in: factory)
        sentBytes = CounterTape(.bytesSent, in: factory)
        behind = GaugeTape(.connectionsBehind, in: factory)
        handshakes = GaugeTape(.handshakes, in: factory)
        refused = RefusalReason.allCases.map {
            ($0, CounterTape(.connectionsRefused, [("reason", $0.rawValue)], in: factory))
        }
    }

    mutating func report(_ loop: EdgeLoop) {
        accepted.reach(loop.tally.accepted)
        receivedFrames.reach(loop.tally.receivedFrames)
        sentFrames.reach(loop.tally.sentFrames)
        receivedBytes.reach(loop.tally.receivedBytes)
        sentBytes.reach(loop.tally.sentBytes)
        behind.stand(at: loop.backlogs.count)
        handshakes.stand(at: loop.handshakes.count)
        for index in refused.indices { refused[index].tape.reach(loop.tally[refused: refused[index].reason]) }
        for (closing, count) in loop.tally.closed { reach(count, of: closing) }
        for (limit, count) in loop.limitTotals { reach(count, of: limit) }
    }

    /// There is no edge any more.
    mutating func withdraw() {
        behind.stand(at: 0)
        handshakes.stand(at: 0)
    }

    private mutating func reach(_ count: Int, of closing: Closing) {
        let labels = [("by", closing.by.rawValue), ("code", closing.code)]
        var tape = closed[closing] ?? CounterTape(.connectionsClosed, labels, in: factory)
        tape.reach(count)
        closed[closing] = tape
    }

    private mutating func reach(_ count: Int, of limit: String) {
        var tape = limits[limit] ?? CounterTape(.limitsHit, [("limit", limit)], in: factory)
        tape.reach(count)
        limits[limit] = tape
    }
}
