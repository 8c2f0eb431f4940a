// Being sent elsewhere: what a node of a cluster answers about a slot that is not its own, or soon will not be.

import RollcallModel

/// Where a node sends us.
enum Redirection: Hashable {
    typealias Address = RedisLocation.Address

    /// Another has the slot, for good.
    case moved(slot: Int, to: Address)
    /// The slot is about to go to another, which has this key already, or is to have it: it takes this one command.
    case asked(slot: Int, at: Address)

    /// Reads an error: `MOVED 3999 10.0.0.1:6381`, or `ASK` and the same.
    ///
    /// - Parameter server: who answered so.
    /// - Returns: `nil` if it is another error.
    init?(_ error: RedisError, from server: Address) {
        guard let error = error.underlying as? RedisServerError, error.kind == "MOVED" || error.kind == "ASK" else {
            return nil
        }
        let words = error.message.parts(at: " ")
        guard words.count == 2, let slot = Int(words[0]), (0..<KeySlot.count).contains(slot),
            let (host, digits) = words[1].cut(atLast: ":"), let port = Int(digits),
            (1...65_535).contains(port), let address = server.called(host, port: port)
        else { return nil }
        self = error.kind == "MOVED" ? .moved(slot: slot, to: address) : .asked(slot: slot, at: address)
    }

    /// How often one command may be sent elsewhere: who is sent in circles is told that it failed.
    static let most = 5
}
