// Names and reasons come from outside. Written into a log or a terminal as they are, one could begin a line of its
// own, or turn the text's direction or colour.

extension StringProtocol {
    /// The text on one line, every character that is not plainly visible written as an escape.
    var escapedForLog: String {
        unicodeScalars.reduce(into: "") { $0 += $1.escapedForLog }
    }
}

extension Unicode.Scalar {
    fileprivate var escapedForLog: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case "\\": "\\\\"
        case "\"": "\\\""
        default: isPlainlyVisible ? String(self) : "\\u{\(String(value, radix: 16))}"
        }
    }

    private var isPlainlyVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
