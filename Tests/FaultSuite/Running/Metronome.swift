// How late this very process is at times: a machine that has no time for the suite has none for the workers either, and
// what is measured then is the machine.

internal import Foundation
internal import NIOConcurrencyHelpers

/// A thread that wakes every few milliseconds and remembers when it woke late.
final class Metronome: Sendable {
    private static let beat = Duration.milliseconds(5)
    /// What is late enough to be remembered.
    private static let late = Duration.milliseconds(20)

    private let delays = NIOLockedValueBox<[(at: Moment, delay: Duration)]>([])

    init() {
        Thread.detachNewThread { [weak self] in
            var last = Moment.now
            while true {
                Thread.sleep(forTimeInterval: Self.beat.inSeconds)
                let now = Moment.now
                guard let self else { return }
                note(now - last - Self.beat, at: now)
                last = now
            }
        }
    }

    /// The longest delay since a moment.
    func longestDelay(since start: Moment) -> Duration {
        delays.withLockedValue { $0.filter { $0.at >= start }.map(\.delay).max() ?? .zero }
    }

    private func note(_ delay: Duration, at moment: Moment) {
        guard delay >= Self.late else { return }
        delays.withLockedValue { $0.append((moment, delay)) }
    }
}
