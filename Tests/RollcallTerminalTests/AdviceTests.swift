import RollcallClient
import RollcallTerminal
import Testing

@Suite("Advice in error messages")
struct AdviceTests {
    private let named = ConnectionText(url: "ws://127.0.0.1:9/v1/connect", saysName: true)
    private let signed = ConnectionText(url: "ws://127.0.0.1:9/v1/connect", saysName: false)

    @Test("without an answer, it names the URL and how to start a worker")
    func unreachable() {
        let state = ConnectionState.waiting(.seconds(1), because: RollcallError(.unreachable, "no worker answered"))
        #expect(
            named.sentence(for: state) == """
                not connected: no worker answered; trying again. Nobody answers at ws://127.0.0.1:9/v1/connect. Start \
                workers with `rollcall dev` or `rollcall worker`, or say with --url where they listen.
                """)
    }

    @Test("with a wrong token, it says which one would be right")
    func badToken() {
        let state = ConnectionState.failed(RollcallError(.badToken, "the worker does not take the token"))
        #expect(named.sentence(for: state)?.contains("--as works where") == true)
        #expect(signed.sentence(for: state)?.contains("very secret, issuer and audience") == true)
        for text in [named, signed] { #expect(text.sentence(for: state)?.contains("rollcall token") == true) }
    }

    @Test("every state has a sentence or none, every error has one", arguments: RollcallError.Code.allCases)
    func all(code: RollcallError.Code) {
        #expect(named.sentence(for: .failed(RollcallError(code, "what happened")))?.contains("what happened") == true)
        #expect(named.sentence(for: .connecting) == nil)
    }

    @Test("a language is found by any of its names", arguments: ["de", "DE", "de-AT", "de_AT.UTF-8", "gsw"])
    func language(name: String) throws {
        #expect(try Language(named: name).id == "de")
    }

    @Test(
        "an unknown language is answered with the list of languages", arguments: ["sv", "", "c", "\u{1B}[2J"])
    func unknownLanguage(name: String) throws {
        let error = try #require(throws: UnknownLanguage.self) { try Language(named: name) }
        for language in Language.all { #expect(error.description.contains("\(language.id) (\(language.name))")) }
        #expect(!error.description.contains("\u{1B}"))
        #expect(try Language(named: "en_GB").id == "en")
    }
}
