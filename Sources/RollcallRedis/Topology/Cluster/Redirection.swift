// Redirections: the reply of a cluster node about a slot that it does not have, or that is moving away.

import RollcallModel

/// The target of a redirection.
enum Redirection: Hashable {
    typealias Address = RedisLocation.Address

    /// Another node has the slot, permanently.
    case moved(slot: Int, to: Address)
    /// The slot is moving to another node, which has this key already or is about to receive it. It accepts this one
    /// command.
    case asked(slot: Int, at: Address)

    /// Parses an error: `MOVED 3999 10.0.0.1:6381`, or the same with `ASK`.
    ///
    /// - Parameter server: the node that replied.
    /// - Returns: `nil` for any other error.
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

    /// The most redirections of one command, after which it fails.
    static let most = 5
}
