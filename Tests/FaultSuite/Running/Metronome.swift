// Measures how late this process runs. A machine that is too busy for the suite is too busy for the workers too, and
// then the results describe the machine. Event loops are measured as well: devices and the proxies in front of Redis
// run on them, and a busy machine delays a loop with work to do for longer than a thread that only wakes up.

internal import Foundation
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// A thread and a task on each event loop that wake up every few milliseconds and record when they are late.
package final class Metronome: Sendable {
    private static let beat = Duration.milliseconds(5)
    /// Shorter delays are not recorded.
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

    /// Returns the longest delay since a moment.
    package func longestDelay(since start: ContinuousClock.Instant) -> Duration {
        delays.withLockedValue { $0.filter { $0.at >= start }.map(\.delay).max() ?? .zero }
    }

    private func note(_ delay: Duration, at moment: Moment) {
        guard delay >= Self.late else { return }
        delays.withLockedValue { $0.append((moment, delay)) }
    }
}
