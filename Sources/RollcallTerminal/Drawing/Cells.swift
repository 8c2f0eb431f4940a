// The width of text. Terminals differ: some draw a family of emoji in two cells, others its members side by side. Here
// text counts as wide as the widest terminal would draw it, so that text that should fit always does.

/// Widths in terminal cells.
package enum Cells {
    /// The maximum number of cells that a text needs.
    package static func width(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// The maximum number of cells that a character needs.
    package static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        let sum = scalars.reduce(0) { $0 + width(of: $1) }
        // This selector requests the wide emoji form of a narrow character.
        return scalars.contains("\u{FE0F}") ? max(sum, 2) : sum
    }

    /// Returns the text, shortened to a width between characters. The last cell is then `…`.
    package static func shortened(_ text: String, to width: Int) -> String {
        if self.width(of: text) <= width { return text }
        return width < 1 ? "" : prefix(of: text, fitting: width - 1) + "…"
    }

    /// Returns the text as lines that fit a width, broken between words. A longer word is shortened.
    package static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let line = lines.last, Self.width(of: line) + 1 + Self.width(of: word) <= width {
                lines[lines.count - 1] = "\(line) \(word)"
            } else {
                lines.append(shortened(String(word), to: width))
            }
        }
        return lines
    }

    /// Returns as many of the first characters as fit.
    package static func prefix(of text: String, fitting width: Int) -> String {
        String(fitting(text, width))
    }

    /// Returns as many of the last characters as fit.
    package static func suffix(of text: String, fitting width: Int) -> String {
        String(fitting(text.reversed(), width).reversed())
    }

    private static func fitting(_ characters: some Sequence<Character>, _ width: Int) -> [Character] {
        var room = width
        return characters.prefix { character in
            room -= Self.width(of: character)
            return room >= 0
        }
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.properties.generalCategory == .control ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // The later letters of a Hangul syllable are drawn in the cells of the first.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation && !isRegionalIndicator(scalar)
            || wide.contains { $0.contains(scalar.value) }
    }

    /// A flag consists of two of these.
    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    /// The ranges of wide and full-width characters in Unicode's `EastAsianWidth.txt`, without emoji. Ranges include
    /// unassigned code points.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}
