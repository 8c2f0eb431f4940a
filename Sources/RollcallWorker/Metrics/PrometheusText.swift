// Prometheus's text format, version 0.0.4: one line per value, below the metric's help text.

import RollcallShards

/// The page under construction.
struct PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Starts a metric; its samples follow.
    mutating func begin(_ name: String, _ kind: Metric.Kind) {
        if let help = Metric(rawValue: name)?.help { text += "# HELP \(name) \(Self.escaped(help))\n" }
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: PrometheusLabels, _ value: Double) {
        text += "\(name)\(labels.text) \(Self.number(value))\n"
    }

    /// A number in Prometheus's format: whole numbers without a fraction, whatever their size.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// Escapes a help text.
    private static func escaped(_ help: String) -> String {
        help.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A metric's labels, ordered by name.
struct PrometheusLabels: Hashable, Comparable {
    /// The labels as written after the metric's name; empty if there are none.
    let text: String
    private let pairs: [String]

    init(_ labels: [(String, String)]) {
        self.init(pairs: labels.map { Self.pair(PrometheusName.label($0), $1) }.sorted())
    }

    private init(pairs: [String]) {
        self.pairs = pairs
        text = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    static let none = PrometheusLabels([])

    /// The same labels with one more at the end.
    func adding(_ name: String, _ value: String) -> PrometheusLabels {
        PrometheusLabels(pairs: pairs + [Self.pair(name, value)])
    }

    static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    private static func pair(_ name: String, _ value: String) -> String {
        let escaped = value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\(name)=\"\(escaped)\""
    }
}

/// Valid Prometheus names: invalid characters become underscores.
enum PrometheusName {
    static func metric(_ text: String) -> String { name(text, allowing: ":") }
    static func label(_ text: String) -> String { name(text, allowing: "_") }

    private static func name(_ text: String, allowing extra: Unicode.Scalar) -> String {
        var name = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            let isDigit = ("0"..."9").contains(scalar) && index > 0
            name.unicodeScalars.append(isLetter || isDigit || scalar == extra ? scalar : "_")
        }
        return name.isEmpty ? "_" : name
    }
}
