// When and where a device comes back: by our client's own rules.

internal import RollcallClient

/// A device's way back.
package struct Comeback: Sendable {
    private static let client = ClientOptions()

    private var itinerary: Itinerary<Int>
    private var backoff = Backoff(first: client.firstPause, longest: client.longestPause)

    /// - Parameters:
    ///   - count: how many addresses the load was given; those that workers name come after them.
    ///   - address: which of them is the first.
    package init(to count: Int, from address: Int) {
        itinerary = Itinerary(Array(0..<count), from: address)
    }

    /// Where the next attempt goes: an index into the addresses of the load.
    package var address: Int { itinerary.address }

    /// How long the next attempt may take.
    package var patience: Duration { itinerary.timeLimit(atMost: Self.client.connectTimeout) }

    /// No worker answered.
    ///
    /// - Returns: how long to wait before the next attempt.
    package mutating func notReached(using random: inout some RandomNumberGenerator) -> Duration {
        itinerary.notReached() ? .zero : backoff.failed(using: &random)
    }

    package mutating func welcomed() {
        itinerary.welcomed()
    }

    /// The connection ended after it was welcome.
    ///
    /// - Parameters:
    ///   - held: how long it had stood.
    ///   - asked: how long the worker said to wait.
    ///   - invitation: the address that the worker named.
    package mutating func ended(
        held: Duration, asked: Duration?, to invitation: Int?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        itinerary.connectionEnded(to: invitation)
        return backoff.ended(held: held, asked: asked, using: &random)
    }
}
