// The languages that Rollcall includes. Their words are in `words.json`, which the browser module uses too. The file is
// compiled into the program, and parsed when the first language is used.

internal import CWords

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Language {
    /// All languages, in the order in which to offer them.
    public static let all = decoded(String(cString: words_json()))

    public static let english = brought("en")
    public static let german = brought("de")
    public static let french = brought("fr")
    public static let spanish = brought("es")
    /// Brazilian Portuguese.
    public static let portuguese = brought("pt")
    public static let italian = brought("it")
    public static let dutch = brought("nl")
    public static let polish = brought("pl")
    public static let russian = brought("ru")
    public static let arabic = brought("ar")
    public static let hebrew = brought("he")
    public static let hindi = brought("hi")
    public static let japanese = brought("ja")
    public static let korean = brought("ko")
    public static let simplifiedChinese = brought("zh-Hans")
    public static let traditionalChinese = brought("zh-Hant")
    public static let turkish = brought("tr")
    public static let ukrainian = brought("uk")

    private static func brought(_ id: String) -> Language {
        guard let language = all.first(where: { $0.id == id }) else {
            preconditionFailure("words.json has no language \(id)")
        }
        return language
    }

    private static func decoded(_ file: String) -> [Language] {
        do {
            return try JSONDecoder().decode([Entry].self, from: Data(file.utf8)).map {
                Language($0, plural: rule(of: $0.id))
            }
        } catch {
            preconditionFailure("words.json cannot be read: \(error)")
        }
    }

    private static func rule(of id: String) -> PluralRule {
        switch id {
        case "ja", "ko", "zh-Hans", "zh-Hant": .invariant
        case "fr", "hi", "pt": .zeroAndOne
        case "ru", "uk": .eastSlavic
        case "pl": .polish
        case "ar": .arabic
        case "he": .dual
        default: .one
        }
    }
}
