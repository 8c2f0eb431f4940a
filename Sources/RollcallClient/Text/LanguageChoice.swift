// Chooses the language for a user.

import Foundation

extension Language {
    /// Returns the best of `languages` for a user with these preferences, most preferred first; English if none
    /// matches.
    ///
    /// The region only decides between variants of one language. Chinese is an exception: there it also determines the
    /// script (`zh-HK` is traditional). A related language is never substituted: a user who prefers only Norwegian gets
    /// English.
    ///
    /// - Parameters:
    ///   - preferences: BCP 47 tags, as in `Accept-Language` or from the platform, or POSIX names (`de_AT.UTF-8`).
    ///   - languages: the languages to choose from. If two have the same id, the later one is used, so `Language.all +
    ///     [mine]` adds or replaces a language.
    public static func best(for preferences: [String], among languages: [Language] = all) -> Language {
        for preference in preferences.map(LanguageTag.init) {
            let near = languages.compactMap { language in
                LanguageTag(language.id).nearness(to: preference).map { (language: language, nearness: $0) }
            }
            if let best = near.last(where: { $0.nearness == near.map(\.nearness).max() }) { return best.language }
        }
        return languages.last { $0.id == english.id } ?? english
    }

    /// The language in which the app speaks to its user. On Apple platforms that is the one of the app's own localisations that
    /// the system chose (`Bundle.main.preferredLocalizations`), and elsewhere that of the environment (`LANGUAGE`, `LC_ALL`,
    /// `LC_MESSAGES` and `LANG`). To choose another for all models of a client, set ``ClientOptions/language``.
    public static var current: Language {
        #if canImport(Darwin)
            best(for: Bundle.main.preferredLocalizations)
        #else
            best(for: preferences(in: ProcessInfo.processInfo.environment))
        #endif
    }

    /// Returns the preferences of a POSIX environment: the first of three variables that is set, preceded by the list
    /// in `LANGUAGE`. There are none if that variable requests no language (`C` or `POSIX`).
    static func preferences(in environment: [String: String]) -> [String] {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let set, LanguageTag(set).language != "c", LanguageTag(set).language != "posix" else { return [] }
        return (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init) + [set]
    }
}

/// The relevant parts of a BCP 47 tag or a POSIX locale name (`de_AT.UTF-8`), in lower case.
struct LanguageTag: Hashable {
    let language: String
    let script: String?
    let region: String?

    init(_ name: String) {
        let parts = name.prefix { $0 != "." && $0 != "@" }.split { $0 == "-" || $0 == "_" }.map { $0.lowercased() }
        let named = parts.first ?? ""
        language = Self.written[named] ?? named
        region = parts.dropFirst().first { $0.count == 2 || ($0.count == 3 && $0.allSatisfy(\.isNumber)) }
        script =
            parts.dropFirst().first { $0.count == 4 && $0.allSatisfy(\.isLetter) } ?? Self.script(of: named, in: region)
    }

    /// Returns how well this language suits a reader of `wanted`; higher is better. `nil` if the language or the script
    /// differs.
    func nearness(to wanted: LanguageTag) -> Int? {
        guard language == wanted.language else { return nil }
        if let script, let other = wanted.script, script != other { return nil }
        return region == wanted.region ? 2 : region == nil ? 1 : 0
    }

    /// Languages whose readers read another written language, and the old code of Hebrew.
    private static let written = ["cmn": "zh", "gsw": "de", "iw": "he", "yue": "zh"]

    /// Returns the script that a region implies. That is known only for Chinese.
    private static func script(of language: String, in region: String?) -> String? {
        switch (language, region) {
        case ("zh", "tw"), ("zh", "hk"), ("zh", "mo"), ("cmn", "tw"): "hant"
        case ("yue", let region): region == "cn" ? "hans" : "hant"
        case ("zh", _), ("cmn", _): "hans"
        default: nil
        }
    }
}
