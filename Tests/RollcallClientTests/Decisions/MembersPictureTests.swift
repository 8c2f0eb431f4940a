// What an observer sees of a conversation's members after each message.

import RollcallModel
import Testing

@testable import RollcallClient

@Suite struct MembersPictureTests {
    private let start = ContinuousClock.now

    private func list(_ users: UserID...) -> ServerMessage.Members {
        .init(conversation: "c42", users: users.map { .init(user: $0) }, count: users.count)
    }

    @Test("the first value waits until it is complete, with a time limit; later ones do not wait")
    func whole() {
        var picture = MembersPicture(of: "c42")
        #expect(picture.members { _ in nil } == nil)
        _ = picture.heard(list("a", "b"), at: start)
        picture.heard(.of("a", .online))
        #expect(picture.members { _ in nil } == nil)
        #expect(picture.deadline == start + .seconds(1))
        picture.deadlinePassed(at: start + .seconds(1))
        #expect(picture.members { _ in nil }?.people.map(\.presence?.status) == [.online, nil])
        #expect(picture.deadline == nil)
        _ = picture.heard(list("a", "b", "c"), at: start)
        #expect(picture.members { _ in nil }?.people.count == 3)
    }

    @Test("lists that follow one another do not delay the first value")
    func patience() {
        var picture = MembersPicture(of: "c42")
        _ = picture.heard(list("a"), at: start)
        _ = picture.heard(list("a", "b"), at: start + .milliseconds(900))
        #expect(picture.deadline == start + .seconds(1))
    }

    @Test("after a refusal, the next value waits until it is complete, like the first one")
    func refusedMeanwhile() {
        for isShown in [true, false] {
            var picture = MembersPicture(of: "c42")
            _ = picture.heard(list("a"), at: start)
            if isShown { picture.heard(.of("a", .online)) }
            _ = picture.members { _ in nil }
            _ = picture.refused(RollcallError(.notAMember, "no"))
            #expect(picture.deadline == nil)
            #expect(picture.members { _ in nil }?.refusal?.code == .notAMember)
            _ = picture.heard(list("a", "b"), at: start + .seconds(9))
            #expect(picture.members { _ in nil } == nil)
            #expect(picture.deadline == start + .seconds(10))
            for user in ["a", "b"] as [UserID] { picture.heard(.of(user, .online)) }
            #expect(picture.members { _ in nil }?.people.map(\.presence?.status) == [.online, .online])
        }
    }

    @Test("added and removed members")
    func comeAndGone() {
        var picture = MembersPicture(of: "c42")
        #expect(picture.heard(list("a", "b"), at: start) == (["a", "b"], []))
        #expect(picture.heard(list("b", "c"), at: start) == (["c"], ["a"]))
        #expect(picture.refused(RollcallError(.notAMember, "no")) == ["b", "c"])
        #expect(picture.members { _ in nil }?.refusal?.code == .notAMember)
        #expect(picture.heard(list("b"), at: start) == (["b"], []))
    }

    @Test("a worker whose count is less than its list causes no failure")
    func wrongWorker() {
        var picture = MembersPicture(of: "c42")
        _ = picture.heard(.init(conversation: "c42", users: [.init(user: "a")], count: -1), at: start)
        picture.heard(.of("a", .online))
        #expect(picture.members { _ in nil }?.count == 1)
    }
}

private func == (left: (come: [UserID], gone: [UserID]), right: ([UserID], [UserID])) -> Bool {
    left.come == right.0 && left.gone == right.1
}
