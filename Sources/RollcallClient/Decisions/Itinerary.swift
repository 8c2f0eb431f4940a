// Where a client connects: first to the address to which a worker redirected it, then to the app's addresses in turn.

/// The worker addresses that a client knows, and which one is next.
package struct Itinerary<Address: Sendable>: Sendable {
    /// The time limit of an attempt while another address is left to try. A device that is redirected to a worker which
    /// does not answer is then connected elsewhere within the default grace period.
    package static var patience: Duration { .seconds(2) }

    private let homes: [Address]
    private var turn: Int
    /// How many of the app's addresses this round has not tried yet.
    private var untried: Int
    /// Whether a whole round has failed since the last welcome. Then the network may be slow, so attempts get the full
    /// time.
    private var isPatient = false
    /// The address to which a worker redirected the client. It is tried once, before the app's.
    private var invitation: Address?

    /// - Parameters:
    ///   - homes: the app's addresses, at least one.
    ///   - turn: the index of the first one to try.
    package init(_ homes: [Address], from turn: Int = 0) {
        self.homes = homes
        self.turn = turn
        untried = homes.count
    }

    /// The address for the next attempt.
    package var address: Address { invitation ?? homes[turn] }

    /// The time limit of that attempt.
    package func timeLimit(atMost longest: Duration) -> Duration {
        let hasOthers = invitation != nil || untried > 1
        return hasOthers && !isPatient ? min(longest, Self.patience) : longest
    }

    package mutating func welcomed() {
        untried = homes.count
        isPatient = false
    }

    /// Handles an attempt that no worker answered.
    ///
    /// - Returns: whether to try the next address at once, because this round has not tried it yet.
    package mutating func notReached() -> Bool {
        guard invitation == nil else {
            invitation = nil
            return true
        }
        moveOn()
        untried -= 1
        guard untried == 0 else { return true }
        untried = homes.count
        isPatient = true
        return false
    }

    /// Handles the end of a connection. Its worker may be gone, so the next address is tried.
    ///
    /// - Parameter invitation: the address to which the worker redirected the client, if it did.
    package mutating func connectionEnded(to invitation: Address? = nil) {
        self.invitation = invitation
        moveOn()
    }

    private mutating func moveOn() {
        turn = (turn + 1) % homes.count
    }
}

extension Itinerary<WorkerAddress> {
    /// Shuffles the addresses, so that clients spread over several workers.
    ///
    /// - Returns: `nil` if there are none, or if one is invalid.
    init?(_ urls: [String], using random: inout some RandomNumberGenerator) {
        let homes = urls.compactMap(WorkerAddress.init)
        guard !homes.isEmpty, homes.count == urls.count else { return nil }
        self.init(homes.shuffled(using: &random))
    }

    var hosts: [String] { homes.map(\.host) }

    /// The first of the app's own addresses at which others could read the token.
    var exposed: WorkerAddress? { homes.first { !$0.isPrivate } }
}
