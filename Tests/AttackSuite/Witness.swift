// A well-behaved client on the worker under attack, which sends requests to it, and through it to Redis, all the time
// and records how long the answers take.

internal import Foundation
internal import NIOConcurrencyHelpers

/// A session that measures response times on its own thread until it is released.
public final class Witness: Sendable {
    /// How long answers took.
    public struct Testimony: Sendable {
        public let latencies: [Duration]

        /// - Parameter part: the fraction of all answers that were faster.
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

    /// - Parameter token: the token of a separate user.
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

    /// Returns the measurements since the last call.
    public func testimony() -> Testimony {
        state.withLockedValue { state in
            defer { state.latencies = [] }
            return Testimony(latencies: state.latencies)
        }
    }

    /// Whether the worker ended the session, or did not answer for ten seconds.
    public var wasLost: Bool { state.withLockedValue { $0.wasLost } }

    deinit {
        state.withLockedValue { $0.isDone = true }
    }
}

/// Transfers a value from one thread to another.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
