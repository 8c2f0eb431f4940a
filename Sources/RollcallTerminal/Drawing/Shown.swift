// A name is a stranger's text, and a terminal obeys what it is sent: an escape sequence in a name could clear the screen,
// set the window's title, or type a command. So nothing reaches a terminal but through here.

/// Makes text of others harmless to a terminal.
package enum Shown {
    /// The text with a picture in place of each control character: `␛` for escape, `␊` for a line feed.
    package static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: controls) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(controls(scalar) ? picture(of: scalar) : scalar) }
        return String(shown)
    }

    /// A name as ``text(_:)``, on one line and without what turns the order of its neighbours round; `nil` if nothing
    /// of it shows.
    package static func name(_ name: String) -> String? {
        let kept = name.unicodeScalars.filter { !$0.properties.isBidiControl }
        let words = kept.split { $0.properties.isWhitespace && !controls($0) }.map { String($0) }
        let shown = text(words.joined(separator: " "))
        return shown.unicodeScalars.contains { !$0.properties.isDefaultIgnorableCodePoint } ? shown : nil
    }

    /// A JSON document without raw control characters. JSON demands that of ASCII's only; a terminal obeys others too.
    package static func json(_ document: String) -> String {
        guard document.unicodeScalars.contains(where: controls) else { return document }
        return document.unicodeScalars.reduce(into: "") { text, scalar in
            if controls(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func controls(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Unicode has pictures for the ASCII ones; the others (a terminal takes U+009B for an escape sequence's beginning)
    /// have the character for what cannot be shown.
    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
        case 0x7F: "\u{2421}"
        default: "\u{FFFD}"
        }
    }
}
