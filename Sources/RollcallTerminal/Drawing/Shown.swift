// A name is a stranger's text, and a terminal obeys what it is sent: an escape sequence in a name could clear the screen,
// set the window's title, or type a command. So nothing reaches a terminal but through here.

/// Makes text of others harmless to a terminal.
package enum Shown {
    /// The text with a picture in place of each control character: `␛` for escape, `␊` for a line feed, and the character
    /// for what cannot be shown for those that turn the order of letters round.
    package static func text(_ text: String) -> String {
        replacing(controls, in: text)
    }

    /// As ``text(_:)`` for a sentence of ours, whose names went through ``name(_:)`` and may stand in isolates.
    package static func sentence(_ text: String) -> String {
        replacing({ controls($0) && !isolates($0) }, in: text)
    }

    private static func replacing(_ isBad: (Unicode.Scalar) -> Bool, in text: String) -> String {
        guard text.unicodeScalars.contains(where: isBad) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isBad(scalar) ? picture(of: scalar) : scalar) }
        return String(shown)
    }

    /// U+2068 and U+2069, which keep the order of a name's letters to the name.
    private static func isolates(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{2068}" || scalar == "\u{2069}" }

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
        default: scalar.properties.isBidiControl
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
