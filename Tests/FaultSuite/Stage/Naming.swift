// The names of users, devices and conversations on a stage: names that careless code splits, merges or truncates.
// Faults use roles ("leaver", "phone"), and each stage draws a name for each role.

internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

/// The names of one stage, each drawn when it is first needed.
final class Naming: Sendable {
    fileprivate struct Drawn {
        var users: [String: UserID] = [:]
        var devices: [String: DeviceID] = [:]
        var conversations: [String: ConversationID] = [:]
        var taken: Set<[UInt8]> = []
    }

    private let drawn = NIOLockedValueBox(Drawn())

    /// Roles that keep their names: those that a fault writes to Redis itself, and those with thousands of users.
    private static let plain = ["bystander", "busy", "double", "future", "nobody", "observer", "one", "watcher"]
    /// Pairs of roles whose names are canonically equivalent in Unicode, while different things happen to them.
    private static let pairs = [("leaver", "twin"), ("insider", "removed1"), ("here-changer", "there-changer")]
    /// Devices of one user with canonically equivalent names.
    private static let devicePair = ("phone", "laptop")

    /// Returns the user of a role.
    func user(_ role: String) throws -> UserID {
        if Self.plain.contains(where: { role.hasPrefix($0) }) { return try UserID(role) }
        return try drawn.withLockedValue { drawn in
            if let known = drawn.users[role] { return known }
            for (first, second) in Self.pairs where role == first || role == second {
                let names = drawn.drawPair()
                (drawn.users[first], drawn.users[second]) = (try UserID(names.0), try UserID(names.1))
            }
            let user = try drawn.users[role] ?? UserID(drawn.draw(from: NastyNames.all))
            drawn.users[role] = user
            return user
        }
    }

    /// Returns a device of the user of a role.
    func device(_ device: String, of role: String) throws -> DeviceID {
        if Self.plain.contains(where: { role.hasPrefix($0) }) { return try DeviceID(device) }
        return try drawn.withLockedValue { drawn in
            if let known = drawn.devices["\(role) \(device)"] { return known }
            let names = NastyNames.canonicallyEqual.randomElement() ?? Self.devicePair
            drawn.devices["\(role) \(Self.devicePair.0)"] = try DeviceID(names.0)
            drawn.devices["\(role) \(Self.devicePair.1)"] = try DeviceID(names.1)
            return try drawn.devices["\(role) \(device)"] ?? DeviceID(device)
        }
    }

    /// Returns the conversation of a role.
    func conversation(_ role: String) throws -> ConversationID {
        try drawn.withLockedValue { drawn in
            if let known = drawn.conversations[role] { return known }
            let conversation = try ConversationID(drawn.draw(from: NastyNames.joiningBefore + NastyNames.longest))
            drawn.conversations[role] = conversation
            return conversation
        }
    }

    /// The names by role, one line each.
    var lines: [String] {
        drawn.withLockedValue { drawn in
            drawn.users.map { "\($0.key) is \($0.value.escaped)" }
                + drawn.conversations.map { "conversation \($0.key) is \($0.value.escaped)" }
        }.sorted()
    }
}

extension Naming.Drawn {
    /// Returns a name that is not used yet.
    fileprivate mutating func draw(from names: [String]) -> String {
        let free = names.filter { !taken.contains(Array($0.utf8)) }
        guard let name = free.randomElement() else {
            preconditionFailure("a stage has fewer roles than there are names")
        }
        taken.insert(Array(name.utf8))
        return name
    }

    fileprivate mutating func drawPair() -> (String, String) {
        let free = NastyNames.canonicallyEqual.filter {
            !taken.contains(Array($0.0.utf8)) && !taken.contains(Array($0.1.utf8))
        }
        guard let pair = free.randomElement() else {
            preconditionFailure("there are fewer pairs of roles than of names")
        }
        taken.formUnion([Array(pair.0.utf8), Array(pair.1.utf8)])
        return Bool.random() ? pair : (pair.1, pair.0)
    }
}

extension Identifier {
    /// The name in ASCII, with other scalars escaped as in Swift; long names are truncated.
    var escaped: String {
        let text = text.unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined()
        return text.utf8.count > 60 ? "\(text.prefix(48))… (\(self.text.utf8.count) bytes)" : text
    }

    /// The name, percent-encoded for a path or a query.
    var percentEncoded: String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(Unicode.Scalar(byte))
            default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }.joined()
    }
}
