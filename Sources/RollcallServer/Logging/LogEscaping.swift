// Escapes untrusted names and reasons. Unescaped in a log or terminal, they could start a new line, or change the
// text's direction or color.

extension StringProtocol {
    /// The text on one line, with every character that is not plainly visible escaped.
    package var escapedForLog: String {
        unicodeScalars.reduce(into: "") { $0 += $1.escapedForLog }
    }

    /// The same for JSON text, which does not escape non-ASCII characters such as U+0085 and U+2028; some readers end a
    /// line there.
    package var escapedForJSONLog: String {
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
