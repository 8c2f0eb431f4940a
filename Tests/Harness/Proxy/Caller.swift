// Who is at the other end of a connection to Redis: each says so in the first words.

internal import NIOCore

/// Tells callers apart.
enum Caller {
    private static let bus = "RCmb"

    /// Whose a connection is that begins so.
    ///
    /// - Parameter nodes: the ids of a cluster's nodes.
    /// - Returns: `nil` while that cannot be told.
    static func traffic(of opening: ByteBuffer, nodes: [String]) -> Traffic? {
        let text = String(buffer: opening)
        if text.hasPrefix(bus) { return node(opening, nodes) }
        let words = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let command = words.firstIndex(of: "SETNAME") else {
            // A worker names its connections in one breath with whatever else it says first.
            let isNameless = words.last == "" && words.count > 2 && !words.contains("AUTH")
            return isNameless || opening.readableBytes > 4096 ? .others : nil
        }
        guard words.count > command + 3 else { return nil }
        return worker(named: words[command + 2])
    }

    /// `rollcall-w1`, or `rollcall-w1-hears` for one that subscribes, and the like.
    private static func worker(named name: Substring) -> Traffic {
        guard let name = name.wholeMatch(of: #/rollcall-w(\d+)(-[a-z]+)?/#), let number = Int(name.1) else {
            return .others
        }
        return Traffic.worker(number).intersection(name.2 == "-hears" ? .subscribers : .commands)
    }

    /// What nodes of a cluster tell each other has the id of whoever speaks behind five numbers.
    private static func node(_ opening: ByteBuffer, _ nodes: [String]) -> Traffic? {
        guard let id = opening.getString(at: opening.readerIndex + 40, length: 40) else { return nil }
        return nodes.firstIndex(of: id).map { .node($0) } ?? .others
    }
}
