// Finds mistakes in phrases that a compiler cannot find: wrong placeholders.

extension Language.Words {
    var problems: [String] { phrases.flatMap(\.problems) }

    private var phrases: [Phrase] {
        [
            Phrase("typing.one", typing.one, ["name"]),
            Phrase("typing.list", typing.list, ["list"]),
            Phrase("typing.someone", typing.someone),
            Phrase("typing.people", typing.people, ["count"]),
            Phrase("typing.several", typing.several),
            Phrase("typing.person", typing.person, ["name"]),
            Phrase("typing.others", typing.others, ["count"]),
            Phrase("typing.someoneElse", typing.someoneElse),
            Phrase("lastSeen.now", lastSeen.now),
            Phrase("lastSeen.minutes", lastSeen.minutes, ["count"]),
            Phrase("lastSeen.recently", lastSeen.recently),
            Phrase("lastSeen.today", lastSeen.today),
            Phrase("lastSeen.earlier", lastSeen.earlier),
            Phrase("lastSeen.minutesAgo", lastSeen.minutesAgo, ["count"]),
            Phrase("lastSeen.hoursAgo", lastSeen.hoursAgo, ["count"]),
            Phrase("lastSeen.daysAgo", lastSeen.daysAgo, ["count"]),
            Phrase("presence.online", presence.online),
            Phrase("presence.away", presence.away),
            Phrase("presence.offline", presence.offline),
            Phrase("presence.group", presence.group, ["online", "total"]),
        ]
    }
}

/// A phrase, and the placeholders that are filled in it.
private struct Phrase {
    let key: String
    let forms: Forms
    let placeholders: Set<String>

    init(_ key: String, _ forms: Forms, _ placeholders: Set<String>) {
        (self.key, self.forms, self.placeholders) = (key, forms, placeholders)
    }

    init(_ key: String, _ text: String, _ placeholders: Set<String> = []) {
        self.init(key, Forms(other: text), placeholders)
    }

    /// The phrase's problems. A form for a single number ("two people") need not contain the number; `other` must.
    var problems: [String] {
        let missing = placeholders.subtracting(Self.placeholders(in: forms.other))
        return missing.sorted().map { "\(key) lacks {\($0)}" }
            + forms.all.flatMap { form in
                let unknown = Self.placeholders(in: form).subtracting(placeholders)
                return unknown.sorted().map { "\(key) has {\($0)}, which nothing fills" }
                    + (form.isEmpty ? ["\(key) is empty"] : [])
            }
    }

    private static func placeholders(in text: String) -> Set<String> {
        Set(
            text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map { opened in
                String(opened.prefix { $0 != "}" })
            })
    }
}
