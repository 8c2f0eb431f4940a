// What an observer sees of typing in a conversation after each message.

import RollcallModel
import Testing

@testable import RollcallClient

@Suite struct TypingPictureTests {
    private let start = ContinuousClock.now
    private let expiry = Duration.seconds(3)

    private func message(_ users: String..., count: Int? = nil) -> ServerMessage.Typing {
        .init(conversation: "c42", users: users.map { Typist(user: try! UserID($0)) }, count: count ?? users.count)
    }

    @Test("a user who continues to type keeps their position, whatever the worker's order")
    func stableOrder() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b", "a"), expiry: expiry, at: start)
        #expect(picture.typing.typists.map(\.user) == ["b", "a"])
        picture.heard(message("a", "b", "c"), expiry: expiry, at: start)
        #expect(picture.typing.typists.map(\.user) == ["b", "a", "c"])
        picture.heard(message("d", "c", "a"), expiry: expiry, at: start)
        #expect(picture.typing.typists.map(\.user) == ["a", "c", "d"])
    }

    @Test("a name that arrives later replaces no other")
    func laterName() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b"), expiry: expiry, at: start)
        let named = ServerMessage.Typing(conversation: "c42", users: [Typist(user: "b", name: "Bob")], count: 1)
        picture.heard(named, expiry: expiry, at: start)
        #expect(picture.typing.typists == [Typist(user: "b", name: "Bob")])
    }

    @Test("a worker that names a user twice, or whose count is too small, causes no failure")
    func wrongWorker() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b", "b", count: -4), expiry: expiry, at: start)
        #expect(picture.typing.typists.map(\.user) == ["b"])
        #expect(picture.typing.count == 1)
    }

    @Test("a set that is not repeated is removed two seconds after the worker's expiry")
    func silence() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b"), expiry: expiry, at: start)
        #expect(picture.deadline == start + .seconds(5))
        picture.heard(message("b"), expiry: expiry, at: start + .seconds(4))
        picture.deadlinePassed(at: start + .seconds(5))
        #expect(picture.typing.count == 1)
        picture.deadlinePassed(at: start + .seconds(9))
        #expect(picture.typing.isEmpty)
        #expect(picture.deadline == nil)
    }

    @Test("whatever the worker's expiry, a set is removed after ten seconds of silence")
    func longestSilence() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b"), expiry: .seconds(3600), at: start)
        #expect(picture.deadline == start + .seconds(10))
    }

    @Test("an empty set has no deadline")
    func empty() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b"), expiry: expiry, at: start)
        picture.heard(message(), expiry: expiry, at: start)
        #expect(picture.typing.isEmpty)
        #expect(picture.deadline == nil)
    }

    @Test("a removed member sees no typing, and the reason; a later update ends that")
    func refused() {
        var picture = TypingPicture(conversation: "c42")
        picture.heard(message("b"), expiry: expiry, at: start)
        picture.refused(RollcallError(.notAMember, "no"))
        #expect(picture.typing == Typing(conversation: "c42", refusal: RollcallError(.notAMember, "no")))
        #expect(picture.deadline == nil)
        picture.heard(message("b"), expiry: expiry, at: start)
        #expect(picture.typing.refusal == nil)
    }
}
