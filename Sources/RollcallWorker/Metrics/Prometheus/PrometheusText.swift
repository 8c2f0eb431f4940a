// Prometheus's text format, version 0.0.4: a line for each number, below what its name means.

/// The page, as it grows.
struct PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a metric, whose samples follow.
    mutating func begin(_ name: String, _ kind: Metric.Kind) {
        if let help = Metric(rawValue: name)?.help { text += "# HELP \(name) \(Self.escaped(help))\n" }
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: PrometheusLabels, _ value: Double) {
        text += "\(name)\(labels.text) \(Self.number(value))\n"
    }

    /// A number as Prometheus reads it: whole ones without a fraction, however large.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// What a line of help may have in it.
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

/// The labels of an instrument, in the order of their names.
struct PrometheusLabels: Hashable, Comparable {
    /// As they stand behind the metric's name; empty if there are none.
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

    /// The same with one more at the end.
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

/// Names that Prometheus takes: whatever else stands in one becomes an underscore.
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
