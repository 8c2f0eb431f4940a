// Which language to speak to this person.

import Foundation

extension Language {
    /// The best of `languages` for someone who prefers these, most preferred first; English if none fits.
    ///
    /// A region decides only between languages of several regions, but for Chinese, where it tells the script (`zh-HK`
    /// is traditional). A language is never taken for a related one: who wants Norwegian alone gets English.
    ///
    /// - Parameters:
    ///   - preferences: BCP 47 tags, such as `Accept-Language` or the platform has them, or POSIX names (`de_AT.UTF-8`).
    ///   - languages: what to choose from. Of two with the same id the later counts, so `Language.all + [mine]`
    ///     adds a language, or replaces one.
    public static func best(for preferences: [String], among languages: [Language] = all) -> Language {
        for preference in preferences.map(LanguageTag.init) {
            let near = languages.compactMap { language in
                LanguageTag(language.id).nearness(to: preference).map { (language: language, nearness: $0) }
            }
            if let best = near.last(where: { $0.nearness == near.map(\.nearness).max() }) { return best.language }
        }
        return languages.last { $0.id == english.id } ?? english
    }

    /// The best for whoever uses this device, or runs this program, now.
    public static var current: Language {
        #if canImport(Darwin)
            best(for: Locale.preferredLanguages)
        #else
            best(for: preferences(in: ProcessInfo.processInfo.environment))
        #endif
    }

    /// What a POSIX environment says: the first of the three that is set, and before it the list in `LANGUAGE`, which
    /// counts unless the former asks for no language (`C`).
    static func preferences(in environment: [String: String]) -> [String] {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let set, LanguageTag(set).language != "c", LanguageTag(set).language != "posix" else { return [] }
        return (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init) + [set]
    }
}
