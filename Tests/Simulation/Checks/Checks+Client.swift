// What is promised to applications: the real client shows the actual state in time, and stays within its worker's
// limits.

internal import RollcallClient
internal import RollcallCore
internal import RollcallProtocol

extension Checks {
    /// The time limit for reconnecting after an outage: the longest pause of the client, a tenth of it or what the welcome names,
    /// and the time to connect.
    private static func reconnecting(after outage: Duration) -> Duration {
        min(max(.milliseconds(1500), outage / 10), .seconds(30)) + .seconds(1)
    }
    /// How long a connection without incoming data may count as connected: after two of the worker's ping intervals, the
    /// client sends a ping and waits for another one, and at least three seconds.
    private static func silence(_ ping: Duration) -> Duration { ping * 2 + max(ping, .seconds(3)) + .seconds(1) }
    /// The longest pause between two attempts at a request that was refused with `retry: true`.
    private static let retrying = Duration.seconds(15) + lag

    /// Checks a client.
    func checkClient(_ device: ClientDevice) {
        checkConnection(of: device)
        checkState(of: device)
        checkScreen(of: device)
    }

    /// Checks everything that is displayed.
    func checkScreen(of device: ClientDevice) {
        guard let app = device.app, violation == nil else { return }
        let expectation = Expectation(world, at: device.places)
        for user in world.users {
            if let watched = app.screen.users[user] { check(watched, user, on: device, expectation) }
        }
        for conversation in world.conversations {
            if let joined = app.screen.conversations[conversation] {
                check(joined, conversation, on: device, expectation)
            }
        }
    }

    // MARK: The connection

    private func checkConnection(of device: ClientDevice) {
        device.noteHindrance()
        guard let app = device.app else { return }
        let now = world.agenda.now
        if app.screen.connection.isConnected {
            guard let wire = device.wire else { return }
            if wire.lastHeard < now - Self.silence(world.settings.shard.ping) {
                fail("silence is no connection", "\(device.name) hears nothing since \(wire.lastHeard.text)")
            }
        } else if max(device.hindered, app.screen.connectionSince)
            < now - Self.reconnecting(after: device.hindered - device.steady)
        {
            fail("connected again", "\(device.name) is \(app.screen.connection) since \(device.hindered.text)")
        }
    }

    /// Checks that the worker has the device state that the user set.
    private func checkState(of device: ClientDevice) {
        let settled = world.calm(at: device.places) - Self.lag
        guard device.isInTouch, device.stateSince < settled, let edge = device.session, edge.isOpen,
            !isWaiting(device)
        else { return }
        let truth = world.truth.device(of: edge)
        guard truth.connected === edge else { return }
        let states = truth.states(since: world.agenda.now, until: world.agenda.now)
        if states.isDisjoint(with: StateSet(device.state)) {
            fail("the device's word", "\(device.name) is \(device.state), and its worker takes it for \(states.text)")
        }
    }

    /// Returns whether the client may be waiting to repeat a refused request or to send something because of the
    /// message rate, or its worker still has to process what it sent.
    private func isWaiting(_ device: ClientDevice) -> Bool {
        let isWaiting = hasToWait(device)
        if isWaiting { device.waited = world.agenda.now }
        return isWaiting
    }

    private func hasToWait(_ device: ClientDevice) -> Bool {
        if device.app?.isBehind(orWasFor: Self.lag) == true { return true }
        // What waited when the connection ended was not answered.
        if let edge = device.session ?? device.lastEdge {
            // What answers its first messages may be on the way.
            if edge.oldestWaiting != nil || edge.began > world.agenda.now - Self.lag { return true }
            if let waited = edge.lastWaited, waited > world.agenda.now - Self.lag { return true }
        }
        return device.wire?.lastRefusal.map { $0 > world.agenda.now - Self.retrying } ?? false
    }

    // MARK: Presence

    private func check(
        _ watched: Screen.Watched, _ user: UserID, on device: ClientDevice, _ expectation: Expectation
    ) {
        guard let shown = watched.shown else { return checkIsKnown(user, since: watched.since, on: device) }
        if world.settings.sharesOnly {
            guard let seen = device.lastEdge?.view.watched[user], seen.maySee,
                seen.decided < world.calm(at: device.places) - Self.lag
            else { return }
        }
        let allowed = expectation.statuses(of: user)
        guard !allowed.contains(shown.status) else { return }
        guard !isOfBefore(shown, on: device), !isExcused(shown, expectation, on: device) else { return }
        fail(
            "an app shows the truth",
            "\(device.name) shows \(user) \(shown.status), who is \(allowed.text): "
                + world.truth.devices(of: user).map { "\($0.name.device) \(expectation.states(of: $0).text)" }
                .joined(separator: ", "))
    }

    private func checkIsKnown(_ user: UserID, since: Instant, on device: ClientDevice) {
        guard device.isInTouch, device.watched.contains(user), !isWaiting(device),
            max(since, device.waited ?? since) < world.calm(at: device.places) - Self.lag
        else { return }
        fail("an app shows the truth", "\(device.name) wants to know of \(user) since \(since.text), and shows nothing")
    }

    /// Returns whether this is from an earlier connection, while the client waits for the update of the current one,
    /// which may be in flight.
    private func isOfBefore(_ presence: Presence, on device: ClientDevice) -> Bool {
        let first = device.lastEdge?.view.watched[presence.user]?.firstShown
        return isToCome(first, last: device.lastWire?.lastPresence[presence.user]) && isWaiting(device)
    }

    /// - Parameters:
    ///   - first: when the worker first sent an update.
    ///   - last: when the last update arrived.
    private func isToCome(_ first: Instant?, last: Instant?) -> Bool {
        guard let first, let last else { return true }
        return last < first
    }

    private func isExcused(_ presence: Presence, _ expectation: Expectation, on device: ClientDevice) -> Bool {
        guard let edge = device.lastEdge else { return false }
        let first = edge.view.watched[presence.user]?.firstShown ?? world.agenda.now
        return isExcused(presence, expectation, since: first, at: edge.worker)
    }

    // MARK: Typing

    private func check(
        _ joined: Screen.Joined, _ conversation: ConversationID, on device: ClientDevice, _ expectation: Expectation
    ) {
        guard let shown = joined.shown else { return checkIsKnown(conversation, since: joined.since, on: device) }
        if shown.typists.contains(where: { $0.user == device.user }) {
            fail("nobody sees themselves typing", "\(device.name) shows it in \(conversation)")
        }
        guard shown.refusal == nil else { return }
        var unnamed = shown.count - shown.typists.count
        for user in world.users where user != device.user {
            let expected = expectation.typing(of: user, in: conversation)
            if shown.typists.contains(where: { $0.user == user }) {
                checkTypes(user, expected, in: conversation, on: device)
            } else if expected.must, device.joined.contains(conversation), device.isInTouch, !isWaiting(device),
                isMember(user, conversation, device), isMember(device.user, conversation, device),
                max(joined.since, device.waited ?? joined.since) < world.calm(at: device.places) - Self.lag
            {
                unnamed -= 1
                if unnamed < 0 {
                    fail("missed typing", "\(device.name) does not show \(user) typing in \(conversation)")
                }
            }
        }
    }

    private func isMember(_ user: UserID, _ conversation: ConversationID, _ device: ClientDevice) -> Bool {
        world.truth.isMember(user, of: conversation, asKnownAt: device.places) == true
    }

    private func checkTypes(
        _ user: UserID, _ expected: Expectation.Typing, in conversation: ConversationID, on device: ClientDevice
    ) {
        // Who waits to join again shows what was, and not for longer than without a connection.
        let waits = world.app?.mayWait(in: conversation, asKnownAt: device.places) == true
        if !waits, world.truth.isMember(user, of: conversation, asKnownAt: device.places) == false {
            fail("members only", "\(device.name) shows \(user) typing in \(conversation), who is no member")
        }
        // Of conversations beyond the worker's limit, a new connection may serve others than the last one did.
        if !expected.may, !waits, !isOfBefore(conversation, on: device), device.joined.contains(conversation) {
            fail("typing ends", "\(device.name) shows \(user) typing in \(conversation), who stopped")
        }
        // A disconnected client stops displaying the last update some time after it should have been repeated.
        let expiry = world.settings.shard.typing.expiry
        let longest = expiry * 2 + .seconds(2) + Self.lag
        let isAlive = world.truth.devices(of: user).contains {
            $0.typing[conversation]?.isAlive(at: world.agenda.now, expiry: longest) ?? false
        }
        if !isAlive { fail("typing ends", "\(device.name) still shows \(user) typing in \(conversation)") }
    }

    private func isOfBefore(_ conversation: ConversationID, on device: ClientDevice) -> Bool {
        let first = device.lastEdge?.view.joined[conversation]?.firstShown
        return isToCome(first, last: device.lastWire?.lastTyping[conversation]) && isWaiting(device)
    }

    private func checkIsKnown(_ conversation: ConversationID, since: Instant, on device: ClientDevice) {
        guard device.isInTouch, device.joined.contains(conversation), !isWaiting(device),
            world.app?.mayWait(in: conversation, asKnownAt: device.places) != true,
            world.truth.isMember(device.user, of: conversation, asKnownAt: device.places) != nil,
            max(since, device.waited ?? since) < world.calm(at: device.places) - Self.lag
        else { return }
        fail("an app shows the truth", "\(device.name) waits since \(since.text) to see who types in \(conversation)")
    }

    // MARK: Inactivity

    /// Checks that retries end: a client with all of its subscriptions sends nothing but new tokens, and joins of
    /// conversations of which its user is not a member.
    ///
    /// - Parameters:
    ///   - before: how many messages each client had sent when all activity ended.
    ///   - rejoins: how many such joins each may have sent since.
    func checkClientsRest(since before: [Int], rejoins: [Int]) {
        for (index, device) in world.clients.enumerated() where !world.settings.usesTokens && !isWaiting(device) {
            guard device.sent > before[index] + rejoins[index] else { continue }
            fail("retries end", "\(device.name) goes on sending though nobody does anything")
        }
    }

    // MARK: Limits

    /// Checks a message that a client has sent.
    func said(_ request: ClientRequest, _ bytes: Int, in pace: inout Pace, by device: ClientDevice) {
        world.trace.note(device.name, "sends \(request.message.text)")
        if bytes > world.settings.shard.limits.messageBytes {
            fail("message limits", "\(device.name) sends \(bytes) bytes at once")
        }
        // A ping finds out whether the connection is alive, and nothing follows a goodbye: neither waits.
        let mayWait = request.message != .ping && request.message != .goodbye
        if pace.next(request.message, at: world.agenda.now) > world.agenda.now, mayWait {
            fail("message limits", "\(device.name) sends more messages than its worker allows")
        }
    }
}
