// Where a client connects: to the addresses that the app gave, in an order of its own and round after round, but first
// to where a worker sends it.

/// The addresses of workers that a client knows, and whose turn it is.
package struct Itinerary<Address: Sendable>: Sendable {
    /// How long an attempt may take while another address is left to try: a device that is sent to a worker which
    /// does not answer is back elsewhere within the usual grace.
    package static var patience: Duration { .seconds(2) }

    private let homes: [Address]
    private var turn: Int
    /// How many of the homes this round has still to try.
    private var untried: Int
    /// Whether a whole round has failed since the last welcome: then it may be the network that is slow.
    private var isPatient = false
    /// Where a worker sent the client: tried once, before the homes.
    private var invitation: Address?

    /// - Parameters:
    ///   - homes: at least one.
    ///   - turn: which of them is the first.
    package init(_ homes: [Address], from turn: Int = 0) {
        self.homes = homes
        self.turn = turn
        untried = homes.count
    }

    /// Where the next attempt goes.
    package var address: Address { invitation ?? homes[turn] }

    /// How long that attempt may take.
    package func timeLimit(atMost longest: Duration) -> Duration {
        let hasOthers = invitation != nil || untried > 1
        return hasOthers && !isPatient ? min(longest, Self.patience) : longest
    }

    package mutating func welcomed() {
        untried = homes.count
        isPatient = false
    }

    /// No worker answered.
    ///
    /// - Returns: whether the next address is worth trying at once: this round has not tried it yet.
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

    /// The connection ended: its worker may be gone, and another is as good.
    ///
    /// - Parameter invitation: where the worker sent the client, if it did.
    package mutating func connectionEnded(to invitation: Address? = nil) {
        self.invitation = invitation
        moveOn()
    }

    private mutating func moveOn() {
        turn = (turn + 1) % homes.count
    }
}

extension Itinerary<WorkerAddress> {
    /// Shuffles the addresses, so that the clients of several workers spread over them.
    ///
    /// - Returns: `nil` if there are none, or one is no address.
    init?(_ urls: [String], using random: inout some RandomNumberGenerator) {
        let homes = urls.compactMap(WorkerAddress.init)
        guard !homes.isEmpty, homes.count == urls.count else { return nil }
        self.init(homes.shuffled(using: &random))
    }

    var hosts: [String] { homes.map(\.host) }
}
