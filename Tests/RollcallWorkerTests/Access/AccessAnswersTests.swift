// What of an app server's answer counts.

import Foundation
import RollcallCore
import RollcallProtocol
import Testing

@testable import RollcallWorker

@Suite struct AccessAnswersTests {
    private let alice: AccessQuestion
    private let bob: AccessQuestion

    init() throws {
        let conversation = try ConversationID("c")
        alice = AccessQuestion(user: try UserID("alice"), conversation: conversation)
        bob = AccessQuestion(user: try UserID("bob"), conversation: conversation)
    }

    private func usable(_ items: String) throws -> [AccessQuestion: AccessAnswer] {
        try Array("{\"answers\":[\(items)]}".utf8).withUnsafeBytes { try AccessAnswers($0, to: [alice, bob]).usable }
    }

    private func item(_ user: String, _ rest: String) -> String { #"{"user":"\#(user)","conversation":"c",\#(rest)}"# }

    @Test("answers belong to their user and conversation, whatever their order")
    func pairs() throws {
        let answers = try usable(item("bob", #""allow":false"#) + "," + item("alice", #""allow":true"#))
        #expect(
            answers == [alice: .allow(for: .seconds(3600), people: nil), bob: .deny(for: .seconds(5))])
    }

    @Test(
        "what is no answer neither allows nor denies, and costs no other its answer",
        arguments: [
            #""allow":null"#, #""allow":1"#, #""allow":"true""#, #""for":1000"#, #""allow":true,"for":"1h""#,
            #""allow":true,"people":"bob""#, #""allow":true,"people":["a b"]"#, #""allow":true,"people":[1]"#,
            #""allow":true,"people":[\#((0...100).map { "\"u\($0)\"" }.joined(separator: ","))]"#,
        ])
    func unreadable(rest: String) throws {
        let answers = try usable(item("alice", rest) + "," + item("bob", #""allow":true"#))
        #expect(answers.keys.sorted() == [bob])
        #expect(try usable(item("alice", #""allow":true"#) + "," + item("alice", rest)).isEmpty, "one of two")
    }

    @Test("two answers that differ are none; answers to what was not asked count for nothing")
    func contradicted() throws {
        let (yes, no) = (item("alice", #""allow":true"#), item("alice", #""allow":false"#))
        #expect(try usable("\(yes),\(no)").isEmpty && usable("\(no),\(yes),\(yes)").isEmpty)
        #expect(try usable("\(yes),\(yes)").count == 1)
        #expect(try usable(item("mallory", #""allow":true"#) + #",7,"x",null,[],{}"#).isEmpty)
    }

    @Test(
        "times are kept within bounds",
        arguments: [("-1", 10), ("0", 10), ("1e300", 86_400), ("60000", 60), ("null", 3600)] as [(String, Int)])
    func times(text: String, seconds: Int) throws {
        let answers = try usable(item("alice", "\"allow\":true,\"for\":\(text)"))
        #expect(answers[alice] == .allow(for: .seconds(seconds), people: nil))
    }

    @Test(
        "what is no list of answers is a failure",
        arguments: ["", "[]", "{}", "null", #"{"answers":{}}"#, "{\"answers\":"])
    func garbage(text: String) {
        #expect(throws: AccessFailure.self) {
            try Array(text.utf8).withUnsafeBytes { _ = try AccessAnswers($0, to: [alice]) }
        }
    }
}
