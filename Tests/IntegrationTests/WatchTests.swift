// What `rollcall watch` prints, and what keeps names from controlling a terminal.

import Foundation
import Harness
import TestSupport
import Testing

@testable import RollcallClient
@testable import rollcall

@Suite("rollcall watch")
struct WatchTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private static func presence(_ user: UserID, _ status: PresenceStatus, ago: Duration? = nil) -> Presence {
        let seen = ago.map { Timestamp(milliseconds: now.milliseconds - $0.components.seconds * 1000) }
        return Presence(user: user, status: status, lastSeen: seen, updatedAt: seen, version: 1)
    }

    private func line(_ news: News) -> String? { Wording(language: .english).line(for: news, at: Self.now) }

    private func json(_ news: News) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(news), as: UTF8.self)
    }

    @Test("each change is reported once, and again only when it looks different")
    func once() {
        var desk = NewsDesk()
        func lines(_ news: [News]) -> [String] { news.compactMap(line) }
        let alice = Self.presence("alice", .online)
        var newer = alice
        newer.version += 1
        let group = Members(conversation: "c42", people: [Member(user: "alice", name: "Alice", presence: alice)])
        let typing = Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])
        #expect(lines(desk.news(in: group)) == ["c42  1 of 1 online", "Alice (alice)  Online"])
        #expect(lines(desk.news(in: group)) == [])
        #expect(lines(desk.news(in: alice)) == [])
        #expect(lines(desk.news(in: newer)) == [])
        #expect(lines(desk.news(in: Self.presence("alice", .away))) == ["Alice (alice)  Away"])
        #expect(lines(desk.news(in: typing)) == ["c42  Alice is typing…"])
        #expect(lines(desk.news(in: typing)) == [])
        #expect(lines(desk.news(in: Typing(conversation: "c42"))) == ["c42  nobody is typing"])
        // A conversation without members is no empty group, unless it had some.
        var another = NewsDesk()
        let counts = [Members(conversation: "c"), Members(conversation: "c", people: [Member(user: "a")])]
            .map { another.news(in: $0).count }
        #expect(counts == [0, 1] && another.news(in: Members(conversation: "c")).count == 1)
    }

    @Test("a different waiting time is not reported, a different reason is")
    func connection() {
        var desk = NewsDesk()
        let reason = RollcallError(.unreachable, "no worker answered")
        let states: [ConnectionState] = [
            .connecting, .waiting(.seconds(1), because: reason), .connecting, .waiting(.seconds(2), because: reason),
            .waiting(.seconds(2), because: RollcallError(.asked, "later")),
        ]
        #expect(states.map { desk.news(in: $0).count } == [0, 1, 0, 0, 1])
    }

    @Test("a line has who, the status, and since when")
    func texts() {
        #expect(line(.presence(Self.presence("bob", .offline), name: nil)) == "bob  Offline")
        #expect(line(.presence(Self.presence("bob", .offline, ago: .seconds(5)), name: "bob")) == "bob  Offline · 5 s")
        #expect(
            line(.presence(Self.presence("bob", .offline, ago: .seconds(7200)), name: nil))
                == "bob  Offline · Last seen 2 hours ago")
        #expect(line(.presence(Self.presence("bob", .away), name: "\u{1B}[2JBob")) == "␛[2JBob (bob)  Away")
        let typists = [Typist(user: "alice"), Typist(user: "eve", name: "\u{1B}[1mEve\n\u{9B}m")]
        let typing = line(.typing(Typing(conversation: "c", typists: typists))) ?? ""
        #expect(typing.hasPrefix("c  alice and ") && typing.hasSuffix(" are typing…"))
        #expect(typing.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        let closed = Members(conversation: "c42", refusal: RollcallError(.notAMember, "no member"))
        #expect(line(.members(closed)) == "c42  members not shown: no member")
    }

    @Test("JSON is as documented")
    func records() throws {
        let session = Session(user: "bob", device: "d1", session: "s", worker: "w1.1")
        #expect(
            try json(.connection(.connected(session)))
                == #"{"connection":{"device":"d1","state":"connected","user":"bob","worker":"w1.1"}}"#)
        #expect(
            try json(.connection(.waiting(.seconds(1), because: RollcallError(.unreachable, "no worker answered"))))
                == #"{"connection":{"problem":{"code":"unreachable","message":"no worker answered"},"state":"waiting"}}"#
        )
        #expect(
            try json(.typing(Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])))
                == #"{"typing":{"conversation":"c42","count":1,"users":[{"name":"Alice","user":"alice"}]}}"#)
        let alice = Self.presence("alice", .online)
        #expect(
            try json(.members(Members(conversation: "c42", people: [Member(user: "alice", presence: alice)])))
                == #"{"members":{"conversation":"c42","count":1,"online":1,"users":[{"user":"alice"}]}}"#)
        #expect(
            try json(.presence(alice, name: "Alice"))
                == #"{"presence":{"last_seen":null,"status":"online","updated_at":null,"user":"alice","version":1}}"#)
        let refused = Typing(conversation: "c42", refusal: RollcallError(.notAMember, "no member"))
        #expect(try json(.typing(refused)).contains(#""problem":{"code":"not_a_member","message":"no member"}"#))
    }

    @Test("watches while another types, and both end in order")
    func commands() async throws {
        let redis = try await RedisServer()
        let worker = try await WorkerProcess("w1", redis: redis.url)
        let url = ["--url", "ws://127.0.0.1:\(worker.port)/v1/connect"]
        let watch = try ChildProcess([RollcallProgram.path, "watch", "--as", "bob", "-c", "c42", "--json"] + url)
        try await eventually("it watches") { watch.output.contains(#""count":0"#) }
        let type = try ChildProcess([RollcallProgram.path, "type", "c42", "--as", "alice", "--for", "500ms"] + url)
        #expect(try await type.exitCode() == 0)
        let typing = #"{"typing":{"conversation":"c42","count":1,"users":[{"user":"alice"}]}}"#
        let nobody = #"{"typing":{"conversation":"c42","count":0,"users":[]}}"#
        try await eventually("the typing is shown, and its end") { watch.output.hasSuffix("\(typing)\n\(nobody)\n") }
        watch.signal(SIGINT)
        #expect(try await watch.exitCode() == 0)
        // Regression: it ran on through several changes, and had to be killed.
        let piped = try ChildProcess([
            "sh", "-c", "\(RollcallProgram.path) watch --as bob -c c42 \(url.joined(separator: " ")) | head -n 1",
        ])
        try await eventually("it watches") { piped.output.contains("\n") }
        let again = try ChildProcess([RollcallProgram.path, "type", "c42", "--as", "alice", "--for", "500ms"] + url)
        #expect(try await again.exitCode() == 0)
        #expect(try await piped.exitCode() == 0)
        let endless = try ChildProcess([RollcallProgram.path, "type", "c42", "--as", "alice"] + url)
        #expect(try await endless.exitCode() == 64)
    }

    @Test("typing in a conversation whose members were never set says what to do, and fails")
    func closed() async throws {
        let redis = try await RedisServer()
        let worker = try await WorkerProcess("w1", redis: redis.url, settings: ["conversations.default": "closed"])
        let url = ["--url", "ws://127.0.0.1:\(worker.port)/v1/connect"]
        let type = try ChildProcess([RollcallProgram.path, "type", "c42", "--as", "alice", "--for", "20s"] + url)
        #expect(try await type.exitCode() == 69)
        #expect(type.errors.contains("its members were never set: set them with PUT /v1/conversations/{c}/members"))
    }

    @Test("every error of the connection has a sentence, with advice where there is something to do")
    func advice() {
        let named = ConnectionText(url: "ws://127.0.0.1:9/v1/connect", saysName: true)
        let signed = ConnectionText(url: "ws://127.0.0.1:9/v1/connect", saysName: false)
        for code in RollcallError.Code.allCases {
            #expect(
                named.sentence(for: .failed(RollcallError(code, "what happened")))?.contains("what happened") == true)
        }
        let unreachable = ConnectionState.waiting(.seconds(1), because: RollcallError(.unreachable, "no answer"))
        #expect(named.sentence(for: unreachable)?.contains("Nobody answers at ws://127.0.0.1:9/v1/connect.") == true)
        let badToken = ConnectionState.failed(RollcallError(.badToken, "the worker does not take the token"))
        #expect(named.sentence(for: badToken)?.contains("--as works where") == true)
        #expect(signed.sentence(for: badToken)?.contains("very secret, issuer and audience") == true)
        #expect(named.sentence(for: .connecting) == nil)
    }

    @Test("a language is found by any of its names, and an unknown one is answered with the list")
    func languages() throws {
        for name in ["de", "DE", "de-AT", "de_AT.UTF-8", "gsw"] {
            #expect(try Watch.language(named: name).id == "de")
        }
        #expect(try Watch.language(named: "en_GB").id == "en")
        for name in ["sv", "", "c", "\u{1B}[2J"] {
            let error = #expect(throws: (any Error).self) { try Watch.language(named: name) }
            let text = error.map { "\($0)" } ?? ""
            for language in Language.all { #expect(text.contains("\(language.id) (\(language.name))")) }
            #expect(!text.contains("\u{1B}"))
        }
    }
}

@Suite("Text from outside")
struct ShownTests {
    @Test("no control character of a name reaches a terminal")
    func controls() {
        for value in (0..<0xA0 as Range<UInt32>) {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory == .control else { continue }
            for shown in [Shown.text("a\(scalar)b"), Shown.name("a\(scalar)b") ?? "", Shown.json("\"a\(scalar)b\"")] {
                #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control })
            }
        }
        #expect(Shown.text("\u{1B}]0;owned\u{7}\u{9B}2J\u{7F}") == "␛]0;owned␇\u{FFFD}2J␡")
        #expect(Shown.json("\"\u{9B}2J\"") == #""\u009b2J""#)
    }

    @Test("bidirectional controls are removed, except for the isolates around names in Rollcall's own sentences")
    func order() {
        for value in [0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069) as [UInt32] {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(Shown.text("a\(scalar)b") == "a\u{FFFD}b")
            #expect(
                Shown.json("\"a\(scalar)b\"") == "\"a\\u" + (value < 0x1000 ? "0" : "") + String(value, radix: 16)
                    + "b\"")
            #expect((Shown.sentence("a\(scalar)b") == "a\u{FFFD}b") == ![0x2068, 0x2069].contains(value))
        }
    }

    @Test("a name is one line, without bidirectional controls")
    func names() {
        #expect(Shown.name(" Alice \u{202E} B  C\u{2067} ") == "Alice B C")
        #expect(Shown.name("Zoë 👩‍👩‍👧") == "Zoë 👩‍👩‍👧")
        for nothing in ["", "  ", "\u{202E}", "\u{200B}"] { #expect(Shown.name(nothing) == nil) }
    }
}
