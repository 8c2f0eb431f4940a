// Cleans names before they are shown. People may leave them empty, paste a whole page, pile accents on one letter, or
// reverse the line with invisible characters.

enum DisplayName {
    /// The maximum number of bytes per allowed character: enough for any script, and for families of emoji.
    private static let bytesPerCharacter = 32

    /// Returns the name as it may be shown: on one line, without white space at its ends, without bidirectional or
    /// terminal controls, and shortened between characters. Returns `nil` if nothing visible is left, so that the name
    /// counts as unknown.
    static func shown(_ name: String, longest: Int) -> String? {
        let words = clean(name)
        guard words.unicodeScalars.contains(where: shows), longest > 0 else { return nil }
        let limit = min(longest, Int.max / bytesPerCharacter) * bytesPerCharacter
        if words.utf8.count <= limit, words.count <= longest { return words }
        var kept = ""
        for character in words.prefix(longest - 1) {
            guard kept.utf8.count + String(character).utf8.count <= limit else { break }
            kept.append(character)
        }
        while kept.last == " " { kept.removeLast() }
        return kept.isEmpty ? nil : kept + "…"
    }

    /// Whether the name contains a character from the ranges that Unicode reserves for right-to-left scripts
    /// (`DerivedBidiClass.txt`, defaults R and AL).
    static func isRightToLeft(_ name: String) -> Bool {
        name.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }

    private static func clean(_ name: String) -> String {
        let words = name.unicodeScalars.filter { !steers($0) }.split(whereSeparator: \.properties.isWhitespace)
        return words.map { String($0) }.joined(separator: " ")
    }

    /// Whether this is a bidirectional control, or a control character that could act on a terminal.
    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isBidiControl || (properties.generalCategory == .control && !properties.isWhitespace)
    }

    private static func shows(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isDefaultIgnorableCodePoint && scalar != " "
    }
}
