// What is promised about typing.

internal import RollcallCore
internal import RollcallProtocol

extension Checks {
    /// Users never see their own typing.
    func checkNotSelf(_ typing: ServerMessage.Typing, _ edge: EdgeSession) {
        guard typing.users.contains(where: { $0.user == edge.user }) else { return }
        fail("nobody sees themselves typing", "\(edge.name) is told so in \(typing.conversation)")
    }

    /// Only members see typing.
    func checkMembership(_ typing: ServerMessage.Typing, _ edge: EdgeSession) {
        guard typing.count > 0, world.truth.isMember(edge.user, of: typing.conversation, for: edge) == false
        else { return }
        fail("members only", "\(edge.name) is told who types in \(typing.conversation)")
    }

    /// Checks that typing ends, that a user types while any of their devices does, and that no change is missed.
    func checkTyping(in conversation: ConversationID, for edge: EdgeSession) {
        guard let joined = edge.view.joined[conversation] else { return }
        if joined.typists == nil, mayWait(in: conversation, edge) { return }
        if world.truth.isMember(edge.user, of: conversation, for: edge) == false {
            return checkOut(of: conversation, since: joined.since, edge)
        }
        guard let typists = joined.typists else { return checkJoined(conversation, since: joined.since, edge) }
        let expectation = expectation(for: edge)
        var unnamed = joined.unnamed
        for user in world.users where user != edge.user {
            let expected = expectation.typing(of: user, in: conversation)
            if typists.contains(user) {
                checkShown(user, expected, in: conversation, to: edge)
            } else if expected.must, areMembers([user, edge.user], of: conversation, for: edge) {
                unnamed -= 1
                guard unnamed < 0 else { continue }
                fail("missed typing", "\(edge.name) does not see \(user) typing in \(conversation)")
            }
        }
    }

    /// Checks that a user who is not a member is notified and removed from the conversation.
    private func checkOut(of conversation: ConversationID, since: Instant, _ edge: EdgeSession) {
        guard since < world.calm(at: edge.places) - Self.lag else { return }
        fail("members only", "\(edge.name) has joined \(conversation) and is no member")
    }

    /// Whether a join may wait for the app's server, with what follows it.
    func mayWait(in conversation: ConversationID, _ edge: EdgeSession) -> Bool {
        guard let app = world.app else { return false }
        return app.mayWait(in: conversation, asKnownAt: edge.places)
            || world.truth.isMember(edge.user, of: conversation, for: edge) == nil
    }

    /// Nobody is put out whom the app's server admits.
    func checkStays(in conversation: ConversationID, _ edge: EdgeSession) {
        guard world.app != nil, !world.isUnsettled(at: edge.places),
            world.truth.isMember(edge.user, of: conversation, for: edge) == true
        else { return }
        fail("nobody is put out", "\(edge.name) is removed from \(conversation)")
    }

    private func checkJoined(_ conversation: ConversationID, since: Instant, _ edge: EdgeSession) {
        guard since < askedCalm(for: edge) - Self.lag else { return }
        fail("no missed change", "\(edge.name) waits since \(since.text) to join \(conversation)")
    }

    private func checkShown(
        _ user: UserID, _ expected: Expectation.Typing, in conversation: ConversationID, to edge: EdgeSession
    ) {
        if world.truth.isMember(user, of: conversation, for: edge) == false {
            fail("members only", "\(edge.name) sees \(user) typing in \(conversation), who is no member")
        }
        if !expected.isAlive, edge.worker.process.hasRun(for: .milliseconds(300)) {
            fail("typing ends", "\(edge.name) still sees \(user) typing in \(conversation)")
        }
        if !expected.may {
            fail("typing ends", "\(edge.name) sees \(user) typing in \(conversation), who stopped")
        }
    }

    private func areMembers(_ users: [UserID], of conversation: ConversationID, for edge: EdgeSession) -> Bool {
        users.allSatisfy { world.truth.isMember($0, of: conversation, for: edge) == true }
    }
}
