// Metrics of the edge.

internal import Metrics
internal import RollcallCore
internal import RollcallProtocol

struct EdgeTapes: LoopReports {
    private weak var loop: EdgeLoop?
    private var accepted, receivedFrames, sentFrames, receivedBytes, sentBytes: CounterTape
    private var behind, handshakes: GaugeTape
    private var refused: CounterTapes<RefusalReason>
    private var limits: CounterTapes<Limit>
    /// By cause and close code, created when first used.
    private var closed: CounterTapes<Closing>

    init(of loop: EdgeLoop, in factory: any MetricsFactory) {
        self.loop = loop
        accepted = CounterTape(.connectionsAccepted, in: factory)
        receivedFrames = CounterTape(.framesReceived, in: factory)
        sentFrames = CounterTape(.framesSent, in: factory)
        receivedBytes = CounterTape(.bytesReceived, in: factory)
        sentBytes = CounterTape(.bytesSent, in: factory)
        behind = GaugeTape(.connectionsBehind, in: factory)
        handshakes = GaugeTape(.handshakes, in: factory)
        refused = CounterTapes(.connectionsRefused, known: RefusalReason.allCases, in: factory) {
            [("reason", $0.rawValue)]
        }
        limits = CounterTapes(.limitsHit, known: Limit.allCases, in: factory) { [("limit", $0.rawValue)] }
        closed = CounterTapes(.connectionsClosed, in: factory) { [("by", $0.by.rawValue), ("code", $0.code)] }
    }

    mutating func report() {
        guard let loop else { return }
        accepted.reach(loop.tally.accepted)
        receivedFrames.reach(loop.tally.receivedFrames)
        sentFrames.reach(loop.tally.sentFrames)
        receivedBytes.reach(loop.tally.receivedBytes)
        sentBytes.reach(loop.tally.sentBytes)
        behind.stand(at: loop.backlogs.count)
        handshakes.stand(at: loop.handshakesInHand)
        refused.reach(loop.tally.refused)
        closed.reach(loop.tally.closed)
        limits.reach(loop.limitCounts.hits)
    }

    /// Sets the gauges to zero when the edge stops.
    mutating func withdraw() {
        behind.stand(at: 0)
        handshakes.stand(at: 0)
    }
}
