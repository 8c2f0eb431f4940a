// Where a client connects: to the addresses that the app gave, in an order of its own and round after round, but first
// to where a worker sends it.

/// The addresses of workers that a client knows, and whose turn it is.
struct Itinerary {
    /// How long an attempt may take while another address is left to try: a device that is sent to a worker which
    /// does not answer is back elsewhere within the usual grace.
    static let patience = Duration.seconds(2)

    private let homes: [WorkerAddress]
    private var turn = 0
    /// How many of the homes this round has still to try.
    private var untried: Int
    /// Whether a whole round has failed since the last welcome: then it may be the network that is slow.
    private var isPatient = false
    /// Where a worker sent the client: tried once, before the homes.
    private var invitation: WorkerAddress?

    /// Shuffles the addresses, so that the clients of several workers spread over them.
    ///
    /// - Returns: `nil` if there are none, or one is no address.
    init?(_ urls: [String], using random: inout some RandomNumberGenerator) {
        let homes = urls.compactMap(WorkerAddress.init)
        guard !homes.isEmpty, homes.count == urls.count else { return nil }
        self.homes = homes.shuffled(using: &random)
        untried = homes.count
    }

    /// The way to the one place there is.
    init(only home: WorkerAddress) {
        homes = [home]
        untried = 1
    }

    /// Where the next attempt goes.
    var address: WorkerAddress { invitation ?? homes[turn] }

    /// How long that attempt may take.
    func timeLimit(atMost longest: Duration) -> Duration {
        let hasOthers = invitation != nil || untried > 1
        return hasOthers && !isPatient ? min(longest, Self.patience) : longest
    }

    mutating func welcomed() {
        untried = homes.count
        isPatient = false
    }

    /// No worker answered.
    ///
    /// - Returns: whether the next address is worth trying at once: this round has not tried it yet.
    mutating func notReached() -> Bool {
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
    /// - Parameter to: where the worker sent the client, if it did.
    mutating func connectionEnded(to: String? = nil) {
        let next = to.flatMap(WorkerAddress.init)
        invitation = next.flatMap { $0.isTrusted(by: address) ? $0 : nil }
        moveOn()
    }

    private mutating func moveOn() {
        turn = (turn + 1) % homes.count
    }
}
