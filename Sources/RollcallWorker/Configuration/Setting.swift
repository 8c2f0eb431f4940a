// One configuration key: its name, how to parse and print its value, and which values are allowed.

import RollcallProtocol
import RollcallServer

/// One configuration key.
struct Setting: Sendable {
    let key: String
    /// A description of valid values, which follows "it must be".
    let expected: String
    /// The text for a default that depends on the machine, if there is one.
    var automatic: String?
    /// Parses a value's text; `false` if it cannot.
    let read: @Sendable (String, inout WorkerConfiguration) -> Bool
    /// The value's text, with secrets masked.
    let show: @Sendable (WorkerConfiguration) -> String
    /// Whether the value is allowed.
    let isAllowed: @Sendable (WorkerConfiguration) -> Bool

    /// The environment variable for this key.
    var variable: String { Self.variablePrefix + key.uppercased().replacing(".", with: "_") }

    static let variablePrefix = "ROLLCALL_"

    /// The default as text.
    var defaultText: String { automatic ?? show(WorkerConfiguration()) }
}

extension Setting {
    typealias Path<Value> = any WritableKeyPath<WorkerConfiguration, Value> & Sendable

    static func text(
        _ key: String, _ path: Path<String>, automatic: String? = nil, _ expected: String,
        shown: @escaping @Sendable (String) -> String = { $0 },
        where isAllowed: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        Setting(
            key: key, expected: expected, automatic: automatic,
            read: { text, configuration in
                if text != automatic { configuration[keyPath: path] = text }
                return true
            },
            show: { shown($0[keyPath: path]) },
            isAllowed: { isAllowed($0[keyPath: path]) })
    }

    /// An optional text; the empty text means none.
    static func optional(
        _ key: String, _ path: Path<String?>, _ expected: String,
        shown: @escaping @Sendable (String) -> String = { $0 },
        where isAllowed: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> Setting {
        Setting(
            key: key, expected: expected,
            read: { text, configuration in
                configuration[keyPath: path] = text.isEmpty ? nil : text
                return true
            },
            show: { $0[keyPath: path].map(shown) ?? "" },
            isAllowed: { $0[keyPath: path].map(isAllowed) ?? true })
    }

    /// Texts separated by commas or white space; in a file also a list.
    static func list(
        _ key: String, _ path: Path<[String]>, _ expected: String,
        where isAllowed: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        Setting(
            key: key, expected: expected,
            read: { text, configuration in
                configuration[keyPath: path] = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
                return true
            },
            show: { $0[keyPath: path].joined(separator: ",") },
            isAllowed: { $0[keyPath: path].allSatisfy(isAllowed) })
    }

    static func number(
        _ key: String, _ path: Path<Int>, automatic: String? = nil, in range: ClosedRange<Int>
    ) -> Setting {
        let orAutomatic = automatic.map { ", or \($0) for as many as the machine allows" } ?? ""
        return Setting(
            key: key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)\(orAutomatic)",
            automatic: automatic,
            read: { text, configuration in
                guard text != automatic else { return true }
                guard let number = Int(text) else { return false }
                configuration[keyPath: path] = number
                return true
            },
            show: { String($0[keyPath: path]) },
            isAllowed: { range.contains($0[keyPath: path]) })
    }

    static func flag(_ key: String, _ path: Path<Bool>) -> Setting {
        Setting(
            key: key, expected: "true or false",
            read: { text, configuration in
                guard text == "true" || text == "false" else { return false }
                configuration[keyPath: path] = text == "true"
                return true
            },
            show: { String($0[keyPath: path]) },
            isAllowed: { _ in true })
    }

    static func duration(_ key: String, _ path: Path<Duration>, in range: ClosedRange<Duration>) -> Setting {
        let (lower, upper) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
        return Setting(
            key: key, expected: "a duration from \(lower) to \(upper), written like 250ms, 5s, 2m, 12h or 30d",
            read: { text, configuration in
                guard let duration = DurationText.duration(text) else { return false }
                configuration[keyPath: path] = duration
                return true
            },
            show: { DurationText.text($0[keyPath: path]) },
            isAllowed: { range.contains($0[keyPath: path]) })
    }

    /// An optional duration; the empty text means none.
    static func optional(_ key: String, _ path: Path<Duration?>, in range: ClosedRange<Duration>) -> Setting {
        let (lower, upper) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
        return Setting(
            key: key,
            expected: "empty, or a duration from \(lower) to \(upper), written like 250ms, 5s, 2m, 12h or 30d",
            read: { text, configuration in
                guard !text.isEmpty else { return true }
                guard let duration = DurationText.duration(text) else { return false }
                configuration[keyPath: path] = duration
                return true
            },
            show: { $0[keyPath: path].map(DurationText.text) ?? "" },
            isAllowed: { $0[keyPath: path].map(range.contains) ?? true })
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Value>
    ) -> Setting {
        let names = Value.allCases.map(\.rawValue)
        return Setting(
            key: key, expected: "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")",
            read: { text, configuration in
                guard let value = Value(rawValue: text) else { return false }
                configuration[keyPath: path] = value
                return true
            },
            show: { $0[keyPath: path].rawValue },
            isAllowed: { _ in true })
    }

    /// A choice whose default depends on other keys; the empty text means that default.
    static func optionalChoice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Value?>
    ) -> Setting {
        Setting(
            key: key, expected: "empty, \(Value.allCases.map(\.rawValue).joined(separator: " or "))",
            read: { text, configuration in
                configuration[keyPath: path] = Value(rawValue: text)
                return text.isEmpty || configuration[keyPath: path] != nil
            },
            show: { $0[keyPath: path]?.rawValue ?? "" },
            isAllowed: { _ in true })
    }
}

/// Durations as text: a whole number and a unit (`250ms`, `5s`, `2m`, `12h`, `30d`), or `0`.
package enum DurationText {
    /// The units in milliseconds, largest first.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Enough for any real duration, and few enough that no unit overflows.
    private static let mostDigits = 9

    package static func duration(_ text: String) -> Duration? { duration(ByteString(text)) }

    /// The text may be a stranger's.
    static func duration(_ text: ByteString) -> Duration? {
        let bytes = text.utf8
        if text == "0" { return .zero }
        let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count <= mostDigits, let count = Int64(String(decoding: digits, as: UTF8.self)),
            let unit = units.first(where: { $0.name.utf8.elementsEqual(bytes.dropFirst(digits.count)) })
        else { return nil }
        return .milliseconds(count * unit.milliseconds)
    }

    /// The duration in the largest unit that represents it exactly, in whole milliseconds.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds != 0, let unit = units.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "0"
        }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
