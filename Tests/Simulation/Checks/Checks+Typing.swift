// What is promised of typing.

internal import RollcallCore
internal import RollcallModel

extension Checks {
    /// Nobody sees themselves typing.
    func checkNotSelf(_ typing: ServerMessage.Typing, _ edge: EdgeSession) {
        guard typing.users.contains(where: { $0.user == edge.user }) else { return }
        fail("nobody sees themselves typing", "\(edge.name) is told so in \(typing.conversation)")
    }

    /// Nobody sees typing where they are no member.
    func checkMembership(_ typing: ServerMessage.Typing, _ edge: EdgeSession) {
        guard typing.count > 0, world.truth.isMember(edge.user, of: typing.conversation) == false,
            !world.isUnsettled(at: edge.places)
        else { return }
        fail("members only", "\(edge.name) is told who types in \(typing.conversation)")
    }

    /// Typing ends; a user types while any of their devices does; no missed change.
    func checkTyping(in conversation: ConversationID, for edge: EdgeSession) {
        guard let joined = edge.view.joined[conversation] else { return }
        guard let typists = joined.typists else { return checkJoined(conversation, since: joined.since, edge) }
        for user in world.users where user != edge.user {
            if typists.contains(user) {
                checkShown(user, in: conversation, to: edge)
            } else {
                checkNotShown(user, in: conversation, to: edge)
            }
        }
    }

    private func checkJoined(_ conversation: ConversationID, since: Instant, _ edge: EdgeSession) {
        guard since < world.calm(at: edge.places) - Self.lag else { return }
        fail("no missed change", "\(edge.name) waits since \(since.text) to join \(conversation)")
    }

    private func checkShown(_ user: UserID, in conversation: ConversationID, to edge: EdgeSession) {
        let now = world.agenda.now
        let devices = world.truth.typing(of: user, in: conversation)
        let longest = world.settings.shard.typing.expiry + .milliseconds(300)
        if edge.worker.process.hasRun(for: .milliseconds(300)),
            !devices.contains(where: { $0.1.isAlive(at: now, expiry: longest) })
        {
            fail("typing ends", "\(edge.name) still sees \(user) typing in \(conversation)")
        }
        let mayType = devices.contains { name, typing in
            let calm = world.calm(at: edge.places + world.truth.machine(of: name))
            return typing.mayType(since: calm - Self.lag, until: now, expiry: world.settings.shard.typing.expiry)
        }
        if !mayType { fail("typing ends", "\(edge.name) sees \(user) typing in \(conversation), who stopped") }
    }

    private func checkNotShown(_ user: UserID, in conversation: ConversationID, to edge: EdgeSession) {
        let now = world.agenda.now
        let calm = world.calm(at: edge.places)
        guard world.truth.isMember(edge.user, of: conversation) == true,
            world.truth.isMember(user, of: conversation) == true
        else { return }
        let mustType = world.truth.typing(of: user, in: conversation).contains { name, typing in
            typing.mustType(
                on: world.truth.devices[name]?.current, since: calm - Self.lag, until: now,
                calm: world.weather.lastOutage(before: now, at: [.redis] + world.truth.machine(of: name)),
                expiry: world.settings.shard.typing.expiry)
        }
        if mustType { fail("missed typing", "\(edge.name) does not see \(user) typing in \(conversation)") }
    }
}
