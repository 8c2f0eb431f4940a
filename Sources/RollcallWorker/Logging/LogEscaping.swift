// Names and reasons come from outside. Written into a log or a terminal as they are, one could begin a line of its
// own, or turn the text's direction or colour.

extension StringProtocol {
    /// The text on one line, every character that is not plainly visible written as an escape.
    var escapedForLog: String {
        unicodeScalars.reduce(into: "") { $0 += $1.escapedForLog }
    }

    /// The same for a text that is JSON already: JSON by itself leaves all beyond ASCII as it is, U+0085 and U+2028
    /// (at which some readers end a line) among it.
    var escapedForJSONLog: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isPlainlyVisible {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
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

    fileprivate var isPlainlyVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
