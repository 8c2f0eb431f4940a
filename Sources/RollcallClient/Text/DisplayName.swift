// Names come from people, who may leave them empty, paste a page into them, or pile accents on one letter.

enum DisplayName {
    /// The most bytes for each character allowed: enough for any script, and for families of emoji.
    private static let bytesPerCharacter = 32

    /// The name as it may be shown: one line, without white space around it, shortened between characters; `nil` if
    /// nothing is left, so that it counts as unknown.
    static func shown(_ name: String, longest: Int) -> String? {
        let words = name.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
        guard !words.isEmpty, longest > 0 else { return nil }
        let limit = longest * bytesPerCharacter
        if words.utf8.count <= limit, words.count <= longest { return words }
        var kept = ""
        for character in words.prefix(longest - 1) {
            guard kept.utf8.count + String(character).utf8.count <= limit else { break }
            kept.append(character)
        }
        while kept.last == " " { kept.removeLast() }
        return kept.isEmpty ? nil : kept + "…"
    }
}
