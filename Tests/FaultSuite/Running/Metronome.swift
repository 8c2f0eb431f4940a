// How late this very process is at times: a machine that has no time for the suite has none for the workers either, and
// what is measured then is the machine. Event loops are measured too: devices and the proxies before Redis run on them, and
// a busy machine delays a loop that has work to do for longer than a thread that only wakes.

internal import Foundation
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// A thread and a task on each event loop that wake every few milliseconds and remember when they woke late.
package final class Metronome: Sendable {
    private static let beat = Duration.milliseconds(5)
    /// What is late enough to be remembered.
    private static let late = Duration.milliseconds(20)

    private let delays = NIOLockedValueBox<[(at: Moment, delay: Duration)]>([])

    package init() {
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
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { listen(to: loop) }
    }

    private func listen(to loop: any EventLoop) {
        let due = Moment.now + Self.beat
        loop.scheduleTask(in: TimeAmount(Self.beat)) { [weak self] in
            guard let self else { return }
            note(.now - due, at: .now)
            listen(to: loop)
        }
    }

    /// The longest delay since a moment.
    package func longestDelay(since start: ContinuousClock.Instant) -> Duration {
        delays.withLockedValue { $0.filter { $0.at >= start }.map(\.delay).max() ?? .zero }
    }

    private func note(_ delay: Duration, at moment: Moment) {
        guard delay >= Self.late else { return }
        delays.withLockedValue { $0.append((moment, delay)) }
    }
}
