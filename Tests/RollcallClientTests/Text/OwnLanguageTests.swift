// A language that an application adds or changes.

import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct OwnLanguageTests {
    @Test("an application adds a language with its own plural rule")
    func added() throws {
        let rule = PluralRule { count in
            switch count % 100 {
            case 1: .one
            case 2: .two
            case 3, 4: .few
            default: .other
            }
        }
        let json = Self.json.replacing("\"sv\"", with: "\"sl\"").replacing(
            "\"other\": \"{list} skriver\"", with: "\"two\": \"{list} pišeta\", \"other\": \"{list} pišejo\"")
        let slovenian = try Language(json: json, plural: rule)
        let text = TypingText(language: .best(for: ["sl-SI"], among: Language.all + [slovenian]))
        #expect(text.text(for: .of("Ana", "Bor")) == "Ana och Bor pišeta…")
        #expect(text.text(for: .of("Ana", "Bor", "Cene")) == "Ana, Bor och Cene pišejo…")
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
        language.words.presence.group[.other] = "{online} online"
        language.words.typing.others[.one] = "one {other}"
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
            "verb": {"typing": "skriver", "recording": "spelar in", "uploading": "laddar upp", "thinking": "tänker", "here": "är här"},
            "verbs": {"typing": "skriver", "recording": "spelar in", "uploading": "laddar upp", "thinking": "tänker", "here": "är här"},
            "one": "{name} {verb}", "list": {"other": "{list} skriver"}, "someone": "Någon skriver",
            "people": {"other": "{count} personer skriver"}, "several": "Flera personer skriver",
            "person": "{name}", "others": {"one": "{count} till", "other": "{count} till"},
            "someoneElse": "någon mer", "beforeDots": ""
          },
          "lastSeen": {
            "now": "Aktiv nu", "justNow": "Sågs nyss", "minutes": {"other": "{count} min sedan"}, "recently": "Nyligen aktiv",
            "today": "Sågs senast i dag", "yesterday": "Sågs senast i går", "week": "Sågs i veckan",
            "month": "Sågs i månaden", "longAgo": "Sågs för länge sedan",
            "minutesAgo": {"one": "Sågs för {count} minut sedan", "other": "Sågs för {count} minuter sedan"},
            "hoursAgo": {"one": "Sågs för {count} timme sedan", "other": "Sågs för {count} timmar sedan"},
            "daysAgo": {"one": "Sågs för {count} dag sedan", "other": "Sågs för {count} dagar sedan"}
          },
          "presence": {
            "online": "Online", "away": "Borta", "offline": "Offline", "busy": "Upptagen",
            "dnd": "Stör ej", "until": "{status} till {time}", "group": {"other": "{online} av {total} online"}
          },
          "connection": {"connecting": "Ansluter…", "failed": "Inte ansluten", "signedOut": "Logga in igen"}
        }
        """

    @Test("a language from JSON, as a web page reads it")
    func json() throws {
        let swedish = try Language(json: Self.json)
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
            ("{name} {verb}", "skriver", "typing.one lacks {name}"),
            (", \"here\": \"är här\"},\n    \"one", "},\n    \"one", "typing.verbs.here is missing"),
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
