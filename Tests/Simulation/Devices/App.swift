// An application that uses the real Swift client: what it observes, what its user types, and what it displays.

internal import RollcallClient
internal import RollcallCore
internal import RollcallProtocol

/// What an application displays: the last values from its client.
struct Screen {
    struct Watched {
        let since: Instant
        /// `nil` while unknown.
        var shown: Presence?
    }

    struct Joined {
        let since: Instant
        /// `nil` while unknown.
        var shown: Typing?
    }

    fileprivate(set) var connection = ConnectionState.idle
    /// When the connection last began or ended.
    fileprivate(set) var connectionSince: Instant
    fileprivate(set) var users: [UserID: Watched] = [:]
    fileprivate(set) var conversations: [ConversationID: Joined] = [:]
}

/// What a client runs on: its work is events of the agenda, so it uses the same time as everything else, and behaves the
/// same for the same seed. There is only one thread.
final class AppProcess: @unchecked Sendable {
    private static let epoch = ContinuousClock.now

    private let agenda: Agenda
    private let chance: Chance
    private var isOver = false
    /// Called after each piece of work.
    var onTurn: () -> Void = {}

    init(_ agenda: Agenda, _ chance: Chance) {
        (self.agenda, self.chance) = (agenda, chance)
    }

    var environment: Environment {
        Environment { [self] in
            Self.epoch + (agenda.now - Instant(nanoseconds: 0))
        } random: { [self] in
            chance.next()
        } run: { [self] work in
            if !isOver { agenda.soon { [self] in turn(work) } }
        } at: { [self] moment, work in
            var work: Environment.Work? = work
            // Rounded up: a timer that fires early is set again.
            let wait = moment - Self.epoch + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)
            agenda.at(Instant(nanoseconds: 0) + wait) { [self] in turn { work?() } }
            return { work = nil }
        }
    }

    /// Runs this as work of the process, now.
    func turn(_ event: () -> Void) {
        guard !isOver else { return }
        event()
        onTurn()
    }

    /// Nothing runs in the process any more.
    func end() {
        isOver = true
        onTurn = {}
    }
}

/// An application, from its start until it is closed or killed.
final class App {
    let process: AppProcess
    private(set) var screen: Screen
    /// Called when the display changes.
    var onChange: () -> Void = {}
    /// Called when the client has failed for good.
    var onFailure: () -> Void = {}

    private let agenda: Agenda
    private let client: RollcallClient
    private let connection: Updates<ConnectionState>.Iterator
    private var presence: [UserID: Updates<Presence>.Iterator] = [:]
    private var typing: [ConversationID: Updates<Typing>.Iterator] = [:]
    private var inputs: [ConversationID: TypingInput] = [:]
    private var wasBehind = false
    /// The last values of a closed client are empty, and say nothing of others.
    private var isClosed = false
    /// When its client last had more to send than its worker's message rate allows.
    private var lastBehind: Instant?

    init(_ client: RollcallClient, in process: AppProcess, _ agenda: Agenda) {
        self.client = client
        self.process = process
        self.agenda = agenda
        screen = Screen(connectionSince: agenda.now)
        connection = client.connection.makeAsyncIterator()
        process.onTurn = { [weak self] in self?.look() }
    }

    /// Kills the process, without a `goodbye` from the client.
    func kill() {
        process.end()
        onChange = {}
        onFailure = {}
    }

    // MARK: Actions

    func connect() { client.connect() }

    func close() {
        isClosed = true
        client.close()
    }

    func networkChanged() { client.networkChanged() }

    func state(_ state: DeviceState) { client.setState(state) }

    func watch(_ user: UserID) {
        screen.users[user] = Screen.Watched(since: agenda.now)
        presence[user] = client.presence(of: user).makeAsyncIterator()
    }

    func unwatch(_ user: UserID) {
        presence[user] = nil
        screen.users[user] = nil
    }

    func join(_ conversation: ConversationID) {
        screen.conversations[conversation] = Screen.Joined(since: agenda.now)
        typing[conversation] = client.typing(in: conversation).makeAsyncIterator()
    }

    func leave(_ conversation: ConversationID) {
        typing[conversation] = nil
        inputs[conversation] = nil
        screen.conversations[conversation] = nil
    }

    func types(in conversation: ConversationID) {
        let input = inputs[conversation] ?? client.typingInput(in: conversation)
        inputs[conversation] = input
        input.edited("text")
    }

    func stopsTyping(in conversation: ConversationID) {
        inputs[conversation]?.send()
    }

    // MARK: Display

    /// Returns whether the client has more to send than its worker's message rate allows, or had within the last
    /// `pause`.
    func isBehind(orWasFor pause: Duration) -> Bool {
        client.isBehind || lastBehind.map { $0 > agenda.now - pause } ?? false
    }

    private func look() {
        let isBehind = client.isBehind
        if isBehind || wasBehind { lastBehind = agenda.now }
        wasBehind = isBehind
        var hasChanged = false
        if let state = connection.pending() {
            if state.isConnected != screen.connection.isConnected { screen.connectionSince = agenda.now }
            screen.connection = state
            hasChanged = true
            if case .failed = state { onFailure() }
        }
        for (user, updates) in presence where !isClosed {
            guard let shown = updates.pending() else { continue }
            screen.users[user]?.shown = shown
            hasChanged = true
        }
        for (conversation, updates) in typing {
            guard let shown = updates.pending() else { continue }
            screen.conversations[conversation]?.shown = shown
            hasChanged = true
        }
        if hasChanged { onChange() }
    }
}
