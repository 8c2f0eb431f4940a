// When and where a device reconnects, by the rules of `RollcallClient`.

internal import RollcallClient

/// A device's reconnects.
package struct Comeback: Sendable {
    private static let client = ClientOptions()

    private var itinerary: Itinerary<Int>
    private var backoff = Backoff(first: client.firstPause, longest: client.longestPause)

    /// - Parameters:
    ///   - count: the number of addresses that the load was given. Those that workers name come after them.
    ///   - address: the index of the first one to try.
    package init(to count: Int, from address: Int) {
        itinerary = Itinerary(Array(0..<count), from: address)
    }

    /// The address of the next attempt, as an index into the addresses of the load.
    package var address: Int { itinerary.address }

    /// The time limit of the next attempt.
    package var patience: Duration { itinerary.timeLimit(atMost: Self.client.connectTimeout) }

    /// Handles an attempt that no worker answered.
    ///
    /// - Returns: how long to wait before the next attempt.
    package mutating func notReached(using random: inout some RandomNumberGenerator) -> Duration {
        itinerary.notReached() ? .zero : backoff.failed(using: &random)
    }

    package mutating func welcomed() {
        itinerary.welcomed()
    }

    /// Handles the end of a connection that was welcomed.
    ///
    /// - Parameters:
    ///   - held: how long the connection lasted.
    ///   - asked: how long the worker asked the device to wait, if it did.
    ///   - invitation: the index of the address to which the worker redirected the device, if it did.
    package mutating func ended(
        held: Duration, asked: Duration?, to invitation: Int?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        itinerary.connectionEnded(to: invitation)
        return backoff.ended(held: held, asked: asked, using: &random)
    }
}
