import ArgumentParser
import RollcallClient
import RollcallTerminal

/// The language of texts about users.
struct LanguageOption: ParsableArguments {
    @Option(
        name: .customLong("language"),
        help: ArgumentHelp(
            "The language of texts about users, such as de or pt-BR; by default the environment's (LC_ALL, LANG).",
            valueName: "language"),
        transform: Self.language)
    var chosen: Language?

    var language: Language { chosen ?? .current }

    private static func language(named name: String) throws -> Language {
        do {
            return try Language(named: name)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
