// Texts of every kind that may be received: correct messages, and messages with missing, wrong, duplicate and unknown
// fields, each in the various notations of JSON.

import TestSupport

/// Generates random JSON.
struct RandomJSON {
    private var random: SeededGenerator

    init(_ random: SeededGenerator) {
        self.random = random
    }

    private enum Kind: Sendable {
        case word([String])
        case name, text, truth, number, id, names
        indirect case nullable(Kind)
        indirect case object([(String, Kind)])
        indirect case list(Kind)
    }

    private static let presence: [(String, Kind)] = [
        ("user", .name), ("status", .word(["online", "away", "offline", "driving"])),
        ("last_seen", .nullable(.number)), ("updated_at", .nullable(.number)), ("version", .number),
        ("name", .nullable(.text)),
    ]
    private static let here: [(String, Kind)] = [
        ("user", .name), ("since", .number), ("idle", .truth), ("name", .nullable(.text)), ("data", .object(presence)),
    ]
    private static let people: [(String, Kind)] = [
        ("conversation", .name), ("count", .number),
        ("users", .list(.object([("user", .name), ("name", .nullable(.text))]))),
    ]
    private static let names = ["c42", "bob", "café", "cafe\u{301}", "李雷", "a/b\\\"", "😀", "a b"]
    private static let limits = [
        "watched_users", "joined_conversations", "message_bytes", "message_rate", "message_burst", "here_data",
        "entered_conversations",
    ]
    private static let messages: [(type: String?, fields: [(String, Kind)])] = [
        ("hello", [("token", .text), ("device", .name), ("state", .word(["active", "idle", "background", "gone"]))]),
        ("token", [("token", .text)]), ("state", [("state", .word(["active", "idle", "background"]))]),
        ("watch", [("users", .names)]), ("unwatch", [("users", .names)]), ("get", [("users", .names)]),
        ("join", [("conversation", .name), ("presence", .truth), ("here", .truth)]),
        ("leave", [("conversation", .name)]),
        ("enter", [("conversation", .name), ("data", .object(presence))]), ("exit", [("conversation", .name)]),
        ("typing", [("conversation", .name), ("typing", .truth)]), ("ping", []), ("goodbye", []), ("dance", []),
        (
            "welcome",
            [
                ("user", .name), ("device", .name), ("session", .text), ("worker", .text), ("time", .number),
                ("ping", .number), ("typing", .object([("expiry", .number), ("throttle", .number)])),
                ("limits", .object(limits.map { ($0, .number) })),
            ]
        ),
        ("presence", [("users", .list(.object(presence)))]), ("typing", people), ("members", people),
        ("here", [("conversation", .name), ("count", .number), ("users", .list(.object(here)))]),
        ("removed", [("conversation", .name)]), ("pong", [("time", .number)]), ("ack", []),
        ("error", [("code", .text), ("message", .text), ("retry", .truth)]),
        (
            "goodbye",
            [("reason", .text), ("reconnect", .truth), ("after", .nullable(.number)), ("to", .nullable(.text))]
        ),
        (nil, presence),
        (nil, [("user", .name), ("typing", .truth), ("expires_in", .number), ("at", .number), ("name", .text)]),
        (nil, here + [("here", .truth), ("count", .number), ("at", .number)]),
        (nil, [("user", .name), ("member", .truth), ("name", .text), ("count", .number), ("reset", .truth)]),
    ]

    mutating func message() -> String {
        let (type, own) = Self.messages.randomElement(using: &random)!
        var fields = own
        if let type { fields.append(("type", .word([type]))) }
        if chance(2) { fields.append(("id", .id)) }
        if chance(8), let doubled = fields.randomElement(using: &random) { fields.append(doubled) }
        if chance(8), !fields.isEmpty { fields.remove(at: Int.random(in: fields.indices, using: &random)) }
        return space() + object(fields) + space()
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
}

// Values.
extension RandomJSON {
    private mutating func value(_ kind: Kind) -> String {
        guard !chance(25) else { return anything(depth: 0) }
        switch kind {
        case .word(let words): return written(words.randomElement(using: &random)!)
        case .name: return written(Self.names.randomElement(using: &random)!)
        case .text: return written(text())
        case .truth: return chance(2) ? "true" : "false"
        case .number: return number()
        case .id: return chance(2) ? number() : written(text())
        case .names: return list { $0.value(.name) }
        case .nullable(let kind): return chance(4) ? "null" : value(kind)
        case .object(let fields): return object(fields)
        case .list(let kind): return list { $0.value(kind) }
        }
    }

    private mutating func anything(depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &random) {
        case 0: "null"
        case 1: chance(2) ? "true" : "false"
        case 2: number()
        case 3: written(text())
        case 4: chance(2) ? "[]" : "{}"
        case 5: list { $0.anything(depth: depth + 1) }
        default: "{\(written(text())):\(anything(depth: depth + 1)),\(space())\"x\":\(anything(depth: depth + 1))}"
        }
    }

    private mutating func object(_ fields: [(String, Kind)]) -> String {
        var members = fields.map { name, kind in space() + written(name) + space() + ":" + space() + value(kind) }
        if chance(3) { members.append("\(written(text())):\(anything(depth: 0))") }
        members.shuffle(using: &random)
        return "{\(members.joined(separator: space() + ","))\(space())}"
    }

    private mutating func list(of element: (inout RandomJSON) -> String) -> String {
        let elements = (0..<Int.random(in: 0..<4, using: &random)).map { _ in space() + element(&self) + space() }
        return "[\(elements.joined(separator: ","))\(space())]"
    }

    private mutating func space() -> String {
        chance(6) ? [" ", "\n", "\r\n", "\t  "].randomElement(using: &random)! : ""
    }

    private static let numbers = [
        "0", "-0", "-0.0", "0e5", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "-9223372036854775809", "1e18", "1e999", "0.5", "1e-7", "123456.789e3",
    ]

    /// Whole numbers in several notations, and other numbers.
    private mutating func number() -> String {
        let digits = String(Int64.random(in: -9_999_999...9_999_999, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return digits + ".0"
        case 1: return digits + "e" + ["0", "+2", "3", "-1", "-00", "400", "-400"].randomElement(using: &random)!
        case 2: return digits + ".25E" + ["0", "1", "2", "+4"].randomElement(using: &random)!
        case 3: return Self.numbers.randomElement(using: &random)!
        default: return digits
        }
    }
}

// Texts.
extension RandomJSON {
    private mutating func text() -> String {
        let signs: [String] = [
            "a", "users", "type", " ", "\"", "\\", "/", "\n", "\r", "\t", "\u{8}", "\u{c}", "\u{0}", "\u{1f}", "\u{7f}",
            "\u{80}", "é", "e\u{301}", "\u{7ff}", "\u{800}", "\u{2028}", "\u{fffd}", "\u{ffff}", "😀", "\u{10ffff}", "",
        ]
        return (0..<Int.random(in: 0..<7, using: &random)).map { _ in signs.randomElement(using: &random)! }.joined()
    }

    /// Escapes some characters that may be escaped.
    private mutating func written(_ text: String) -> String {
        let escapesAll = chance(8)
        return "\"" + text.unicodeScalars.map { written($0, escaping: escapesAll || chance(30)) }.joined() + "\""
    }

    private mutating func written(_ scalar: Unicode.Scalar, escaping: Bool) -> String {
        let short: [Unicode.Scalar: String] = [
            "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u{8}": "\\b",
            "\u{c}": "\\f",
        ]
        if let short = short[scalar], scalar != "/" || chance(2), !escaping { return short }
        guard escaping || scalar < " " || scalar == "\"" || scalar == "\\" else { return String(scalar) }
        return String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16, uppercase: chance(2))
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
