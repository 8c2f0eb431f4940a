// A language that an application adds or changes.

import RollcallModel
import Testing

@testable import RollcallClient

@Suite struct OwnLanguageTests {
    private static let slovenian = Language(
        id: "sl", name: "Slovenščina", list: ListPattern(pair: " in ", middle: ", ", last: " in "),
        plural: PluralRule { count in
            switch count % 100 {
            case 1: .one
            case 2: .two
            case 3, 4: .few
            default: .other
            }
        },
        words: .init(
            typing: .init(
                one: "{name} piše", list: Forms(two: "{list} pišeta", other: "{list} pišejo"), someone: "Nekdo piše",
                people: Forms(two: "{count} osebi pišeta", few: "{count} osebe pišejo", other: "{count} oseb piše"),
                several: "Več oseb piše",
                others: Forms(
                    one: "še {count} oseba", two: "še {count} osebi", few: "še {count} osebe", other: "še {count} oseb"),
                someoneElse: "še nekdo"),
            lastSeen: .init(
                now: "Na spletu", minutes: "pred {count} min", recently: "Nedavno na spletu", today: "Danes na spletu",
                earlier: "Pred časom na spletu", minutesAgo: "Pred {count} min na spletu",
                hoursAgo: "Pred {count} h na spletu", daysAgo: "Pred {count} d na spletu"),
            presence: .init(
                online: "Na spletu", away: "Odsotnost", offline: "Brez povezave", group: "{online} od {total} na spletu"
            )))

    @Test("an application adds a language with its own plural rule")
    func added() {
        #expect(Self.slovenian.problems == [])
        let text = TypingText(language: .best(for: ["sl-SI"], among: Language.all + [Self.slovenian]))
        #expect(text.text(for: .of("Ana")) == "Ana piše…")
        #expect(text.text(for: .of("Ana", "Bor")) == "Ana in Bor pišeta…")
        #expect(text.text(for: .of("Ana", "Bor", "Cene", "Dana")) == "Ana, Bor in še 2 osebi pišejo…")
        let lastSeen = LastSeenText(language: Self.slovenian)
        let seen = Timestamp(milliseconds: 1_753_600_000_000)
        let bob = Presence.of("bob", .offline, lastSeen: seen.milliseconds)
        #expect(lastSeen.text(for: bob, at: seen.advanced(by: .seconds(120))) == "pred 2 min")
    }

    @Test("an application changes a word")
    func changed() {
        var language = Language.japanese
        language.words.typing.person = "{name}"
        #expect(TypingText(language: language).text(for: .of("Alice", "Bob")) == "AliceとBobが入力中…")
        #expect(TypingText(language: .japanese).text(for: .of("Alice")) == "Aliceさんが入力中…")
    }

    @Test("a wrong phrase is reported by its key")
    func problems() {
        var language = Language.english
        language.words.typing.one = "{nmae} is typing"
        language.words.typing.several = ""
        language.words.presence.group = "{online} online"
        language.words.typing.others = Forms(one: "one {other}", other: "{count} others")
        #expect(
            language.problems == [
                "typing.one lacks {name}", "typing.one has {nmae}, which nothing fills", "typing.several is empty",
                "typing.others has {other}, which nothing fills", "presence.group lacks {total}",
            ])
    }

    private static let json = """
        {
          "id": "sv", "name": "Svenska", "direction": "ltr",
          "list": {"pair": " och ", "middle": ", ", "last": " och "},
          "typing": {
            "one": "{name} skriver", "list": {"other": "{list} skriver"}, "someone": "Någon skriver",
            "people": {"other": "{count} personer skriver"}, "several": "Flera personer skriver",
            "person": "{name}", "others": {"one": "{count} till", "other": "{count} till"},
            "someoneElse": "någon mer", "beforeDots": ""
          },
          "lastSeen": {
            "now": "Aktiv nu", "minutes": {"other": "{count} min sedan"}, "recently": "Nyligen aktiv",
            "today": "Sågs senast i dag", "earlier": "Sågs nyligen",
            "minutesAgo": {"one": "Sågs för {count} minut sedan", "other": "Sågs för {count} minuter sedan"},
            "hoursAgo": {"one": "Sågs för {count} timme sedan", "other": "Sågs för {count} timmar sedan"},
            "daysAgo": {"one": "Sågs för {count} dag sedan", "other": "Sågs för {count} dagar sedan"}
          },
          "presence": {
            "online": "Online", "away": "Borta", "offline": "Offline", "group": {"other": "{online} av {total} online"}
          }
        }
        """

    @Test("a language from JSON, as a web page reads it")
    func json() throws {
        let swedish = try Language(json: Self.json, plural: .one)
        #expect(TypingText(language: swedish).text(for: .of("Ada", "Bo", "Cy", "Di")) == "Ada, Bo och 2 till skriver…")
    }

    @Test(
        "what is missing or wrong in JSON is reported by its key",
        arguments: [
            ("\"someone\": \"Någon skriver\",", "", "typing.someone is missing"),
            (
                "\"other\": \"{list} skriver\"", "\"one\": \"{list} skriver\"",
                "typing.list is wrong: The form `other` is missing."
            ),
            ("{name} skriver", "skriver", "typing.one lacks {name}"),
        ])
    func wrongJSON(text: String, wrong: String, problem: String) {
        #expect(throws: InvalidLanguage(problems: [problem])) {
            try Language(json: Self.json.replacing(text, with: wrong), plural: .one)
        }
    }

    @Test("a wrong value in JSON is reported by its key; text that is not JSON is refused")
    func noJSON() throws {
        for (text, wrong, key) in [
            ("\"ltr\"", "\"up\"", "direction"), ("\"other\": \"{count} till\"", "\"more\": \"\"", "typing.others.more"),
            ("\"Borta\"", "7", "presence.away"),
        ] {
            let error = #expect(throws: InvalidLanguage.self) {
                try Language(json: Self.json.replacing(text, with: wrong), plural: .one)
            }
            let description = try #require(error).description
            #expect(description.hasPrefix("\(key) is wrong: "))
        }
        #expect(throws: InvalidLanguage.self) { try Language(json: "{", plural: .one) }
    }
}
