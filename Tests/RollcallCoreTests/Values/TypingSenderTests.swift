import RollcallCore
import RollcallProtocol
import Testing

/// An expiry of three seconds and a throttle of one; Redis time is a million milliseconds ahead of the test's clock.
@Suite struct TypingSenderTests {
    private var sender = TypingSender(expiry: .seconds(3), throttle: .seconds(1))

    private mutating func signalled(_ after: Duration) -> TypingSender.Decision? {
        sender.signalled(at: at(after), time: redis(1_000_000 + after.milliseconds))
    }

    @Test("a first signal is sent at once, and ends one expiry after it was received")
    mutating func first() {
        let decision = signalled(.milliseconds(40))
        #expect(decision == .signal(expiry: redis(1_003_040)))
        #expect(sender.isTyping && sender.nextDue == at(.milliseconds(3040)))
    }

    @Test("signals within the throttle are deferred until it is over, and only the newest is sent")
    mutating func deferred() {
        _ = signalled(.zero)
        let (second, third) = (signalled(.milliseconds(300)), signalled(.milliseconds(999)))
        #expect(second == nil && third == nil && sender.nextDue == at(.seconds(1)))
        #expect(sender.due(at: at(.milliseconds(999))) == nil)
        #expect(sender.due(at: at(.seconds(1))) == .signal(expiry: redis(1_003_999)))
        #expect(sender.due(at: at(.seconds(1))) == nil && sender.nextDue == at(.milliseconds(3999)))
    }

    @Test("the throttle counts from the last signal sent, including deferred ones")
    mutating func throttleAfterDeferred() {
        _ = signalled(.zero)
        _ = signalled(.milliseconds(500))
        _ = sender.due(at: at(.seconds(1)))
        let (early, late) = (signalled(.milliseconds(1999)), signalled(.seconds(2)))
        #expect(early == nil && late == .signal(expiry: redis(1_005_000)))
        #expect(sender.due(at: at(.seconds(2))) == nil, "what was deferred went on with it")
    }

    @Test("after Redis's clock was set back, a stop ends what Redis kept from before")
    mutating func setBack() {
        _ = signalled(.zero)
        let time = redis(1_000_000 + 1000 - 2500)
        #expect(sender.signalled(at: at(.seconds(1)), time: time) == .signal(expiry: time.advanced(by: .seconds(3))))
        #expect(sender.stopped() == .stop(expiry: redis(1_003_000)), "Redis keeps the later end")
    }

    @Test("typing ends one expiry after the last signal, not after the last one sent")
    mutating func end() {
        _ = signalled(.zero)
        _ = signalled(.milliseconds(900))
        _ = sender.due(at: at(.seconds(1)))
        #expect(sender.due(at: at(.milliseconds(3899))) == nil)
        #expect(sender.due(at: at(.milliseconds(3900))) == .stop(expiry: redis(1_003_900)))
        #expect(!sender.isTyping && sender.nextDue == nil)
    }

    @Test("if both are overdue, typing that has expired ends, and a deferred signal does not restart it")
    mutating func endBeforeDeferred() {
        _ = signalled(.zero)
        _ = signalled(.milliseconds(500))
        #expect(sender.due(at: at(.seconds(9))) == .stop(expiry: redis(1_003_000)))
        #expect(sender.due(at: at(.seconds(9))) == nil)
    }

    @Test("a stop is sent at once, names what it ends, and cancels what is deferred")
    mutating func stop() {
        _ = signalled(.zero)
        _ = signalled(.milliseconds(500))
        #expect(sender.stopped() == .stop(expiry: redis(1_003_000)))
        #expect(sender.nextDue == nil && sender.due(at: at(.seconds(1))) == nil)
        #expect(sender.stopped() == nil, "there is nothing more to stop")
    }

    @Test("a start right after a stop is still throttled, and one that was never sent needs no stop")
    mutating func startAfterStop() {
        _ = signalled(.zero)
        _ = sender.stopped()
        let again = signalled(.milliseconds(100))
        #expect(again == nil && sender.isTyping)
        #expect(sender.stopped() == nil && !sender.isTyping)
    }

    @Test("after Redis refused a signal, nothing is stopped, and no deferred signal is sent")
    mutating func refused() {
        _ = signalled(.zero)
        _ = signalled(.milliseconds(500))
        sender.ended()
        #expect(!sender.isTyping && sender.nextDue == nil && sender.stopped() == nil)
    }

    /// Regression: it was renewed when the throttle was over, and shown as ended until then.
    @Test("a signal that had waited is renewed before it ends, four times per throttle at most")
    mutating func waited() {
        _ = signalled(.zero)
        // Both were received at 500 ms and waited, for 2.1 s and 2.2 s.
        _ = signalled(.milliseconds(500))
        #expect(sender.due(at: at(.milliseconds(2600))) == .signal(expiry: redis(1_003_500)))
        _ = signalled(.milliseconds(700))
        #expect(sender.nextDue == at(.milliseconds(3050)), "half of what is left")
        #expect(sender.due(at: at(.milliseconds(3050))) == .signal(expiry: redis(1_003_700)))
        _ = signalled(.milliseconds(710))
        #expect(sender.due(at: at(.milliseconds(3374))) == nil)
        #expect(sender.due(at: at(.milliseconds(3375))) == .signal(expiry: redis(1_003_710)))
        _ = signalled(.milliseconds(720))
        #expect(sender.nextDue == at(.milliseconds(3625)), "a quarter of the throttle")
    }

    @Test("without a throttle, every signal is sent")
    mutating func noThrottle() {
        sender = TypingSender(expiry: .seconds(3), throttle: .zero)
        let decisions = [signalled(.zero), signalled(.zero), signalled(.milliseconds(1))]
        #expect(decisions.allSatisfy { $0 != nil })
    }

    @Test("a deferred signal has the kind of the last one, and a stop that of what it ends")
    func kinds() {
        var sender = TypingSender(expiry: .seconds(3), throttle: .seconds(1))
        let time = redis(1_000_000)
        #expect(
            sender.signalled(.recording, at: at(.zero), time: time) == .signal(expiry: redis(1_003_000), .recording))
        #expect(sender.signalled(.typing, at: at(.milliseconds(100)), time: time) == nil)
        #expect(sender.signalled(.uploading, at: at(.milliseconds(200)), time: time) == nil)
        #expect(sender.due(at: at(.seconds(1))) == .signal(expiry: redis(1_003_000), .uploading))
        #expect(sender.stopped() == .stop(expiry: redis(1_003_000)))
    }
}
