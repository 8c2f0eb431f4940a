import ArgumentParser
import RollcallClient

/// The language of texts about users. The commands themselves use English.
struct LanguageOption: ParsableArguments {
    @Option(
        name: .customLong("language"),
        help: ArgumentHelp(
            "The language of texts about users, such as de or pt-BR; by default the environment's (LC_ALL, LANG).",
            valueName: "language"),
        transform: Self.language)
    var chosen: Language?

    var language: Language { chosen ?? .current }

    /// Returns the language with this name: `de`, `de-AT` or `de_AT.UTF-8`.
    static func language(named name: String) throws -> Language {
        let best = Language.best(for: [name])
        let asked = name.prefix { $0 != "-" && $0 != "_" && $0 != "." }.lowercased()
        // English is also the result if there is no match.
        guard best.id != Language.english.id || asked == Language.english.id else {
            let known = Language.all.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw ValidationError("there is no language \"\(Shown.text(name))\"; there are \(known)")
        }
        return best
    }
}
