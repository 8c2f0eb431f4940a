import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct DeviceRecorderTests {
    private let until = redis(104_500)

    @Test("a session is listed before it is written, and unlisted after its device is removed")
    func order() {
        var recorder = recorder()
        recorder.decided(state: .active)
        #expect(next(&recorder) == .list(session("alice"), under: w1))
        #expect(next(&recorder) == nil, "one step at a time")
        recorder.listed(under: w1)
        write(&recorder)
        #expect(next(&recorder) == nil && recorder.isWritten(1))
        recorder.decided(state: nil)
        #expect(write(&recorder)?.state == nil && !recorder.isFinished)
        #expect(next(&recorder) == .unlist(session("alice"), under: w1))
        recorder.unlisted(under: w1)
        #expect(next(&recorder) == nil && recorder.isFinished)
    }

    @Test("the first write has the age of its hello and is valid for a second; later ones for the lease")
    func firstWrite() {
        var recorder = listed(.active)
        let first = write(&recorder, .expired, at: at(.milliseconds(300)))
        #expect(first?.began == nil && first?.age == .milliseconds(300) && first?.opened == redis(100_000))
        #expect(first?.until == redis(101_300), "one second after it was sent")
        #expect(next(&recorder) == nil, "not again before a heartbeat")
        recorder.retry()
        let second = write(&recorder, at: at(.seconds(2)))
        #expect(second?.age == .seconds(2) && second?.sequence == first?.sequence)
        recorder.decided(state: .idle)
        let later = write(&recorder)
        #expect(later?.began == redis(100_000) && later?.until == until)
    }

    @Test("after a first write that was too late, the next one is valid four times as long")
    func longerFirstWrite() {
        var recorder = listed(.active)
        let first = write(&recorder, .expired)
        recorder.retry()
        let second = write(&recorder, .expired)
        #expect(first?.until == redis(101_000) && second?.until == min(redis(104_000), until))
    }

    @Test("a session replaced while a write is in flight writes no more, even if the write is refused as revoked")
    func replacedThenRevoked() {
        var recorder = listed(.active)
        write(&recorder)
        recorder.decided(state: .idle)
        guard case .write(let write) = next(&recorder) else { return #expect(Bool(false), "it is to be written") }
        recorder.abandoned()
        _ = recorder.written(
            DeviceWritten(outcome: .revoked, time: redis(100_000), began: nil, previous: nil), sequence: write.sequence)
        #expect(next(&recorder) == .unlist(session("alice"), under: w1))
        recorder.unlisted(under: w1)
        #expect(next(&recorder) == nil && recorder.isFinished)
    }

    @Test("of the decisions made while a step is in flight, only the last is written")
    func skipped() {
        var recorder = listed(.active)
        guard case .write(let first) = next(&recorder) else { return #expect(Bool(false), "no write") }
        recorder.decided(state: .idle)
        recorder.decided(state: .background)
        _ = recorder.written(written(), sequence: first.sequence)
        let second = write(&recorder)
        #expect(second?.state == .background && second?.sequence == 3)
        #expect(next(&recorder) == nil)
    }

    @Test("a goodbye before the first write is written, since the record may have an older session")
    func earlyGoodbye() {
        var recorder = recorder()
        recorder.decided(state: .active)
        #expect(next(&recorder) == .list(session("alice"), under: w1))
        recorder.removed(at: redis(100_000))
        recorder.listed(under: w1)
        #expect(write(&recorder)?.state == nil)
    }

    @Test("repeating a decision has no effect")
    func same() {
        var recorder = listed(.active)
        write(&recorder)
        #expect(recorder.decided(state: .active) == 1)
        #expect(next(&recorder) == nil)
        #expect(recorder.decided(state: .active, lost: redis(7)) == 2)
    }

    @Test("under a new incarnation, everything is written again under a larger number, whatever was in flight")
    func asserted() {
        var recorder = listed(.active)
        guard case .write(let old) = next(&recorder) else { return #expect(Bool(false), "no write") }
        recorder.asserted(lastBeat: nil)
        #expect(next(&recorder, under: w2) == .list(session("alice"), under: w2))
        #expect(recorder.written(written(), sequence: old.sequence) == .goOn)
        recorder.failed(.write(old))
        recorder.listed(under: w1)
        #expect(next(&recorder, under: w2) == nil, "the list is under way still")
        recorder.listed(under: w2)
        #expect(write(&recorder, under: w2)?.sequence == old.sequence + 1)
    }

    @Test("nothing is sent while writing is held back, not even a new decision")
    func deferred() {
        var recorder = listed(.idle)
        write(&recorder)
        recorder.asserted(lastBeat: nil)
        recorder.retry()
        recorder.listed(under: w1)
        #expect(next(&recorder, isDeferred: true) == nil)
        recorder.decided(state: .background)
        #expect(next(&recorder, isDeferred: true) == nil)
        #expect(next(&recorder) != nil)
    }

    @Test("a device that connected and left while Redis was away needs no write; one whose write was sent, a removal")
    func owed() {
        var recorder = recorder()
        recorder.decided(state: .active)
        recorder.decided(state: nil)
        #expect(next(&recorder) == nil && recorder.isFinished)
        var sent = listed(.active)
        guard case .write(let lost) = next(&sent) else { return #expect(Bool(false), "no write") }
        sent.failed(.write(lost))
        sent.decided(state: nil)
        sent.retry()
        #expect(write(&sent)?.sequence == 2)
    }

    @Test("a device that leaves after Redis refused every step needs no removal")
    func refused() {
        var unlisted = recorder()
        unlisted.decided(state: .active)
        unlisted.failed(next(&unlisted)!, .withoutEffect)
        unlisted.removed(at: redis(100_000))
        #expect(unlisted.isFinished)
        var unwritten = listed(.active)
        unwritten.failed(next(&unwritten)!, .withoutEffect)
        unwritten.removed(at: redis(100_000))
        unwritten.retry()
        #expect(next(&unwritten) == .unlist(session("alice"), under: w1), "and no removal")
        unwritten.unlisted(under: w1)
        #expect(unwritten.isFinished)
    }

    @Test("a device that leaves while a step is in flight that is then refused needs no removal")
    func refusedAfterTheGoodbye() {
        var recorder = recorder()
        recorder.decided(state: .active)
        let list = next(&recorder)!
        recorder.removed(at: redis(100_000))
        #expect(!recorder.isFinished)
        recorder.failed(list, .withoutEffect)
        #expect(recorder.isFinished)
    }

    @Test("a write whose reply is lost needs a removal, however often later steps are refused")
    func unknown() {
        var recorder = listed(.active)
        recorder.failed(next(&recorder)!, .unknown)
        recorder.retry()
        recorder.failed(next(&recorder)!, .withoutEffect)
        recorder.removed(at: redis(100_000))
        #expect(!recorder.isFinished && recorder.owesRemoval)
        var underWay = listed(.active)
        let write = next(&underWay)!
        underWay.asserted(lastBeat: nil)
        underWay.failed(write, .withoutEffect)
        underWay.failed(next(&underWay, under: w2)!, .withoutEffect)
        underWay.removed(at: redis(100_000))
        #expect(!underWay.isFinished, "the reply to the first write was not waited for")
    }

    @Test("a removal under a new incarnation is one write, without a listing")
    func removalAlone() {
        var recorder = listed(.active)
        write(&recorder)
        recorder.removed(at: redis(100_000))
        recorder.asserted(lastBeat: nil)
        #expect(write(&recorder, under: w2)?.state == nil)
        #expect(recorder.isFinished)
    }

    @Test("a session that was replaced writes no more, and is unlisted")
    func replaced() {
        var recorder = listed(.active)
        guard case .write(let write) = next(&recorder) else { return #expect(Bool(false), "no write") }
        #expect(recorder.written(written(.replaced), sequence: write.sequence) == .replaced)
        recorder.decided(state: nil)
        #expect(next(&recorder) == .unlist(session("alice"), under: w1))
    }

    @Test("a step that failed waits for a heartbeat")
    func failed() {
        var recorder = recorder()
        recorder.decided(state: .active)
        _ = next(&recorder)
        recorder.failed(.list(session("alice"), under: w1))
        #expect(next(&recorder) == nil)
        recorder.retry()
        #expect(next(&recorder) == .list(session("alice"), under: w1))
    }

    @Test("it is settled once Redis should have the decision, and drifts if it does not")
    func settled() {
        var recorder = listed(.active)
        #expect(!recorder.isSettled(under: w1))
        write(&recorder)
        #expect(recorder.isSettled(under: w1) && !recorder.isSettled(under: w2))
        recorder.drifted()
        #expect(!recorder.isSettled(under: w1))
        #expect(next(&recorder) == .list(session("alice"), under: w1))
        recorder.listed(under: w1)
        #expect(write(&recorder)?.sequence == 2)
    }

    @Test("a session that drifted is unlisted even if it ends before it is listed again")
    func driftedAndEnded() {
        var replaced = listed(.active)
        write(&replaced)
        replaced.drifted()
        let list = next(&replaced)!
        replaced.abandoned()
        replaced.failed(list, .withoutEffect)
        replaced.retry()
        #expect(!replaced.isFinished && next(&replaced) == .unlist(session("alice"), under: w1))
        var gone = listed(.active)
        write(&gone)
        gone.drifted()
        gone.removed(at: redis(100_000))
        #expect(write(&gone)?.state == nil, "what is gone need not be listed")
        #expect(!gone.isFinished && next(&gone) == .unlist(session("alice"), under: w1))
        gone.unlisted(under: w1)
        #expect(gone.isFinished)
    }

    // MARK: A session that began at the start of the test's clock, when Redis's time was 100,000

    private func recorder() -> DeviceRecorder { DeviceRecorder(name: session("alice"), opened: at(.zero)) }

    private func listed(_ state: DeviceState) -> DeviceRecorder {
        var recorder = recorder()
        recorder.decided(state: state)
        _ = next(&recorder)
        recorder.listed(under: w1)
        return recorder
    }

    private func next(
        _ recorder: inout DeviceRecorder, under incarnation: Incarnation = w1, at now: Instant = at(.zero),
        isDeferred: Bool = false
    ) -> DeviceRecorder.Step? {
        let time = redis(100_000).advanced(by: now - at(.zero))
        return recorder.nextStep(
            under: incarnation, until: until, time: time, at: now, isDeferred: isDeferred)
    }

    private func written(_ outcome: DeviceWritten.Outcome = .written) -> DeviceWritten {
        let began = outcome == .written ? redis(100_000) : nil
        return DeviceWritten(outcome: outcome, time: redis(100_000), began: began, previous: nil)
    }

    /// Takes the next step, which is a write, and answers it.
    @discardableResult
    private func write(
        _ recorder: inout DeviceRecorder, _ outcome: DeviceWritten.Outcome = .written,
        under incarnation: Incarnation = w1, at now: Instant = at(.zero)
    ) -> DeviceWrite? {
        guard case .write(let write) = next(&recorder, under: incarnation, at: now) else { return nil }
        _ = recorder.written(written(outcome), sequence: write.sequence)
        return write
    }
}
