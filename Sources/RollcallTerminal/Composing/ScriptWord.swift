// The words of a script, and similar words that people may write instead.

/// The first word of a line.
enum ScriptWord: String, CaseIterable, CustomStringConvertible {
    case type, paste, erase, send, wait, pace, background, foreground, idle, leave, enter, `repeat`

    var description: String { rawValue }

    /// The step of a word that has no argument.
    var step: Script.Step? {
        switch self {
        case .send: .send
        case .background: .background
        case .foreground: .foreground
        case .idle: .idle
        case .leave: .leave
        case .enter: .enter
        case .type, .paste, .erase, .wait, .pace, .repeat: nil
        }
    }

    /// Returns the word that was probably meant: for a synonym, or a word with one typing mistake.
    static func meant(by word: String) -> ScriptWord? {
        let word = word.lowercased()
        if let exact = ScriptWord(rawValue: word) ?? others[word] { return exact }
        return allCases.first { distance(word, $0.rawValue) == 1 }
    }

    private static let others: [String: ScriptWord] = [
        "active": .foreground, "away": .idle, "clear": .erase, "delete": .erase, "hide": .background, "join": .enter,
        "loop": .repeat, "pause": .wait, "return": .enter, "say": .type, "show": .foreground, "sleep": .wait,
        "speed": .pace, "write": .type,
    ]

    /// The number of letters to add, remove, change or swap with the next: 0, 1, or 2 for anything more.
    private static func distance(_ left: String, _ right: String) -> Int {
        if left == right { return 0 }
        let common = zip(left, right).prefix { $0 == $1 }.count
        let (left, right) = (Array(left.dropFirst(common)), Array(right.dropFirst(common)))
        let isOne =
            left.dropFirst().elementsEqual(right) || left.elementsEqual(right.dropFirst())
            || left.dropFirst().elementsEqual(right.dropFirst())
            || (left.prefix(2).elementsEqual(right.prefix(2).reversed())
                && left.dropFirst(2).elementsEqual(right.dropFirst(2)))
        return isOne ? 1 : 2
    }
}
