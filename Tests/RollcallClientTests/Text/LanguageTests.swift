// Languages as values: selection, contents, and an application's own languages.

import Foundation
import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct LanguageTests {
    @Test("eighteen languages, each complete and without unknown placeholders")
    func all() {
        let expected = "en de fr es pt it nl pl ru ar he hi ja ko zh-Hans zh-Hant tr uk"
        #expect(Language.all.map(\.id).joined(separator: " ") == expected)
        #expect(Language.all.flatMap(\.problems) == [])
        let named: [Language] = [
            .english, .german, .french, .spanish, .portuguese, .italian, .dutch, .polish, .russian, .arabic, .hebrew,
            .hindi, .japanese, .korean, .simplifiedChinese, .traditionalChinese, .turkish, .ukrainian,
        ]
        #expect(named.map(\.id) == Language.all.map(\.id))
        #expect(Language.all.filter { $0.direction == .rightToLeft }.map(\.id) == ["ar", "he"])
    }

    @Test(
        "the best language for a user's preferences",
        arguments: [
            (["pt-BR", "en"], "pt"), (["pt-PT"], "pt"), (["nb", "de-AT"], "de"), (["nb-NO"], "en"), ([], "en"),
            (["zh-HK"], "zh-Hant"), (["zh-TW"], "zh-Hant"), (["zh-Hant-HK"], "zh-Hant"), (["zh-MO"], "zh-Hant"),
            (["zh"], "zh-Hans"), (["zh-CN"], "zh-Hans"), (["zh-SG"], "zh-Hans"), (["zh-Hans-TW"], "zh-Hans"),
            (["yue"], "zh-Hant"), (["yue-CN"], "zh-Hans"), (["cmn-Hant"], "zh-Hant"), (["iw-IL"], "he"),
            (["gsw-CH"], "de"), (["EN_us.UTF-8"], "en"), (["es-419"], "es"), (["sr-Latn@euro", "uk_UA"], "uk"),
            (["de-1996"], "de"), (["", "-", "x"], "en"), (["fr-CA-x-slang"], "fr"),
        ] as [([String], String)])
    func best(preferences: [String], expected: String) {
        #expect(Language.best(for: preferences).id == expected)
    }

    @Test("among several regions the user's own is best, then the one without a region; a later language replaces")
    func regions() {
        func language(_ id: String, name: String = "") -> Language {
            var language = Language.portuguese
            (language.id, language.name) = (id, name)
            return language
        }
        let european = language("pt-PT")
        #expect(Language.best(for: ["pt-PT"], among: Language.all + [european]).id == "pt-PT")
        #expect(Language.best(for: ["pt-BR"], among: Language.all + [european]).id == "pt")
        #expect(Language.best(for: ["pt"], among: Language.all + [european]).id == "pt")
        #expect(Language.best(for: ["pt-AO"], among: [european]).id == "pt-PT")
        #expect(Language.best(for: ["pt"], among: Language.all + [language("pt", name: "mine")]).name == "mine")
        #expect(Language.best(for: ["de"], among: [european]).id == "en", "English, whatever there is to choose from")
        let latin = language("sr-Latn")
        #expect(Language.best(for: ["sr-Cyrl"], among: [latin]).id == "en")
        #expect(Language.best(for: ["sr"], among: [latin]).id == "sr-Latn")
    }

    @Test(
        "the environment's language",
        arguments: [
            (["LANG": "de_DE.UTF-8"], ["de_DE.UTF-8"]),
            (["LANG": "de_DE", "LANGUAGE": "sv:pl"], ["sv", "pl", "de_DE"]),
            (["LANG": "de_DE", "LC_MESSAGES": "it_IT", "LC_ALL": ""], ["it_IT"]),
            (["LANG": "de_DE", "LC_ALL": "uk_UA", "LC_MESSAGES": "it_IT"], ["uk_UA"]),
            (["LANG": "C.UTF-8", "LANGUAGE": "de"], []), (["LANGUAGE": "de"], []), ([:], []),
        ] as [([String: String], [String])])
    func environment(environment: [String: String], expected: [String]) {
        #expect(Language.preferences(in: environment) == expected)
    }

    @Test("the current language is a supported one")
    func current() {
        #expect(Language.all.contains { $0.id == Language.current.id })
    }

    @Test("lists are joined as the platform joins them", arguments: Language.all)
    func lists(language: Language) {
        let locale = Locale(identifier: language.id)
        for names in [
            ["Ada"], ["Ada", "Bob"], ["Ada", "Bob", "Carl"], ["Ada", "Bob", "Carl", "Ida"], ["Ada", "Hiero"],
        ] {
            let formatted = names.formatted(.list(type: .and).locale(locale)).unicodeScalars
            let platform = String(String.UnicodeScalarView(formatted.filter { !$0.properties.isBidiControl }))
            var list = language.list
            switch language.id {
            // Versions of the platform differ in this comma.
            case "hi" where platform.contains(", और"): list.last = ", और "
            // Rollcall's list chooses "and" by its sound, or by the honorific before it.
            case "uk": list.before = nil
            case "ja": list.pair = "、"
            case "ko": list.pair = " 및 "
            default: break
            }
            #expect(list.joined(names) == platform)
        }
    }

    @Test("names are sorted by the language's rules, whatever the machine's locale")
    func collation() {
        func sorted(_ names: String, _ id: String) -> String {
            var language = Language.english
            language.id = id
            return names.split(separator: " ").map(String.init).sorted(by: Collation(language).precedes)
                .joined(separator: " ")
        }
        #expect(sorted("Zoe Ärta Ada", "sv") == "Ada Zoe Ärta")
        #expect(sorted("Zoe Ärta Ada", "de") == "Ada Ärta Zoe")
        #expect(sorted("Ora Ña Nz", "es") == "Nz Ña Ora")
        #expect(sorted("Hus Chalupa Cyril", "cs") == "Cyril Hus Chalupa")
        #expect(sorted("u10 u9 U8", "en") == "U8 u9 u10")
        #expect(sorted("bob Bob BOB", "en") == sorted("BOB bob Bob", "en"))
    }
}
