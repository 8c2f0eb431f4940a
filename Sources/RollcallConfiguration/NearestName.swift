// Suggestions for mistyped names.

enum NearestName {
    /// Returns the candidate most similar to `name`, if one is similar enough to suggest.
    ///
    /// A name that is the beginning or end of a candidate counts as one wrong letter, because users omit `_file` and
    /// section names more often than they mistype.
    static func of(_ name: String, among candidates: [String]) -> String? {
        let scored = candidates.map { (candidate: $0, distance: distance(name, $0)) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, name.count / 3) ? best.candidate : nil
    }

    private static func distance(_ name: String, _ candidate: String) -> Int {
        let name = Array(name.lowercased().map(plain))
        let candidate = Array(candidate.lowercased().map(plain))
        let isPart = candidate.starts(with: name) || candidate.reversed().starts(with: name.reversed())
        return isPart && name != candidate ? 1 : edits(from: name, to: candidate)
    }

    private static func plain(_ character: Character) -> Character {
        character == "." || character == "-" ? "_" : character
    }

    /// The Levenshtein distance: letters inserted, deleted or replaced.
    private static func edits(from source: [Character], to target: [Character]) -> Int {
        var row = Array(0...target.count)
        for (i, letter) in source.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in target.enumerated() {
                let exchanged = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(exchanged, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[target.count]
    }
}
