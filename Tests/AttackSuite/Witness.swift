// Somebody decent on the worker under attack, who asks it something all the time, and Redis with it, and writes down
// how long the answers take.

internal import Foundation
internal import NIOConcurrencyHelpers

/// A session that measures, on a thread of its own, until it is let go.
public final class Witness: Sendable {
    /// How long answers took.
    public struct Testimony: Sendable {
        public let latencies: [Duration]

        /// - Parameter part: of all answers those that were quicker.
        public func quantile(_ part: Double) -> Duration {
            let sorted = latencies.sorted()
            guard !sorted.isEmpty else { return .zero }
            return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
        }
    }

    private struct State {
        var latencies: [Duration] = []
        var isDone = false
        var wasLost = false
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameter token: of a user of its own.
    public init(port: Int, token: String, name: String) throws {
        let stranger = try Stranger(port: port)
        try stranger.enter(token: token, device: name)
        let place = Handed(stranger)
        Thread.detachNewThread { [state] in Self.watch(place.value, state) }
    }

    private static func watch(_ session: Stranger, _ state: NIOLockedValueBox<State>) {
        var number = 0
        while !state.withLockedValue({ $0.isDone }) {
            number += 1
            let asked = ContinuousClock.now
            session.say(#"{"type":"get","users":["nobody"],"id":\#(number)}"#)
            let answer = session.text(within: .seconds(10)) { $0.contains(#""id":\#(number),"#) }
            let took = ContinuousClock.now - asked
            state.withLockedValue { state in
                state.latencies.append(took)
                state.wasLost = answer == nil
                if answer == nil { state.isDone = true }
            }
            usleep(20_000)
        }
    }

    /// What it has seen since it was last asked.
    public func testimony() -> Testimony {
        state.withLockedValue { state in
            defer { state.latencies = [] }
            return Testimony(latencies: state.latencies)
        }
    }

    /// Whether the worker has ended the session, or was silent for ten seconds.
    public var wasLost: Bool { state.withLockedValue { $0.wasLost } }

    deinit {
        state.withLockedValue { $0.isDone = true }
    }
}

/// Hands what belongs to one thread to another, for good.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
