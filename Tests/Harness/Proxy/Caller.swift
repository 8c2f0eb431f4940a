// Identifies the client of a connection to Redis by the first commands that it sends.

internal import NIOCore

/// Classifies connections by their first bytes.
enum Caller {
    private static let bus = "RCmb"

    /// Returns the kind of a connection that starts with these bytes.
    ///
    /// - Parameter nodes: the ids of a cluster's nodes.
    /// - Returns: `nil` while more bytes are needed.
    static func traffic(of opening: ByteBuffer, nodes: [String]) -> Traffic? {
        let text = String(buffer: opening)
        if text.hasPrefix(bus) { return node(opening, nodes) }
        let words = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let command = words.firstIndex(of: "SETNAME") else {
            // A worker sends the name of a connection together with its first commands.
            let isNameless = words.last == "" && words.count > 2 && !words.contains("AUTH")
            return isNameless || opening.readableBytes > 4096 ? .others : nil
        }
        guard words.count > command + 3 else { return nil }
        return worker(named: words[command + 2])
    }

    /// Parses names such as `rollcall-w1`, or `rollcall-w1-hears` for a connection that subscribes.
    private static func worker(named name: Substring) -> Traffic {
        guard let name = name.wholeMatch(of: #/rollcall-w(\d+)(-[a-z]+)?/#), let number = Int(name.1) else {
            return .others
        }
        return Traffic.worker(number).intersection(name.2 == "-hears" ? .subscribers : .commands)
    }

    /// The header of a cluster bus message has the sender's node id at byte 40.
    private static func node(_ opening: ByteBuffer, _ nodes: [String]) -> Traffic? {
        guard let id = opening.getString(at: opening.readerIndex + 40, length: 40) else { return nil }
        return nodes.firstIndex(of: id).map { .node($0) } ?? .others
    }
}
