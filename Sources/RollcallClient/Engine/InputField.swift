// One typing input and its signals. A conversation may have several inputs (for example two windows): the user is
// typing there while any of them is.

import NIOCore

/// Identifies a typing input, unique in the process.
struct FieldID: Hashable, Comparable, Sendable {
    private let number = SerialNumber()

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// A typing input. Used on the client's loop only.
final class InputField {
    let conversation: ConversationID
    /// Whether its view is shown.
    var isPresent = true
    private(set) var field: TypingField
    private let signal: (TypingField.Signal) -> Void
    private let loop: any EventLoop
    private let clock: SteadyClock
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in
        decide { $0.deadlinePassed(at: clock.now) }
    }

    init(
        _ conversation: ConversationID, settings: TypingSettings, expiry: Duration, on loop: any EventLoop,
        by clock: SteadyClock, signal: @escaping (TypingField.Signal) -> Void
    ) {
        self.conversation = conversation
        self.loop = loop
        self.clock = clock
        self.signal = signal
        field = TypingField(settings: settings)
        field.expiryLearnt(expiry)
    }

    func edited(filled: Bool) {
        decide { $0.edited(filled: filled, at: clock.now) }
    }

    func ended() {
        decide { $0.ended() }
    }

    func connected() {
        decide { $0.connected(at: clock.now) }
    }

    func expiryLearnt(_ expiry: Duration) {
        decide {
            $0.expiryLearnt(expiry)
            return nil
        }
    }

    private func decide(_ event: (inout TypingField) -> TypingField.Signal?) {
        let decided = event(&field)
        alarm.set(field.deadline)
        if let decided { signal(decided) }
    }
}
