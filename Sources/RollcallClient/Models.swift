// Models for views: they follow a client's streams, and are updated on the main actor until they are released.

public import Observation

#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// Who is typing in a conversation, and the user's own draft there, for a view to observe.
///
///     Text(chat.text)                                   // "Alice and Bob are typing…"
///     TextField("Message", text: $chat.draft)           // each edit is seen by the others as typing
///     Button("Send") { let text = chat.draft; chat.sends(); send(text) }
///
/// Updated on the main actor, until the model is released. Then the user's own typing ends too.
@MainActor @Observable
public final class TypingModel {
    public let conversation: ConversationID
    public private(set) var typing: Typing
    /// The line to show; empty if no other user is typing.
    public private(set) var text = ""
    /// The line without dots, to show beside moving ones.
    package var sentence: String {
        var words = words
        words.dots = .none
        return words.text(for: typing)
    }
    /// The line for a screen reader, without dots.
    public private(set) var label = ""
    /// Why the worker shows nothing of the conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError? { typing.refusal }
    /// What a screen reader should announce. Changes only when the set of typing users changes.
    public private(set) var announcement = ""
    /// The text of the user's own field, to bind the field to. White space alone does not count as typing.
    public var draft = "" {
        didSet { if draft != oldValue, !isRestoring { input?.edited(draft) } }
    }

    @ObservationIgnored private var isRestoring = false
    @ObservationIgnored private let input: TypingInput?
    @ObservationIgnored private let words: TypingText
    @ObservationIgnored private var announcer: TypingAnnouncer
    @ObservationIgnored private var changes: UpdatesObserver?

    /// Creates a model of the typing in a conversation.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - client: the client that observes.
    ///   - words: the text's options; by default those of `TypingText` in the client's language.
    ///   - hasField: false for a view without an input field, which only observes.
    public init(
        in conversation: ConversationID, from client: RollcallClient, text words: TypingText? = nil,
        hasField: Bool = true
    ) {
        let words = words ?? TypingText(language: client.language)
        self.conversation = conversation
        self.words = words
        let typing = client.engine.shared.withLock { $0.typing[conversation] } ?? Typing(conversation: conversation)
        self.typing = typing
        text = words.text(for: typing)
        label = words.label(for: typing)
        input = hasField ? client.typingInput(in: conversation) : nil
        announcer = TypingAnnouncer(words)
        changes = client.typing(in: conversation).observe(for: self) { $0.changed($1) }
    }

    /// Ends the user's typing and clears the draft. Read the draft before, then send it.
    public func sends() {
        input?.send()
        draft = ""
    }

    /// Does the same as ``sends()``, and waits until the end of the typing is published, so that other users do not see
    /// typing after the message; two seconds at most. The draft is cleared at once, and text entered while this waits
    /// belongs to the next message.
    public func sendsConfirmed() async {
        draft = ""
        await input?.sendConfirmed()
    }

    /// Sets the draft without that the user counts as typing: a draft that is put back, or text that the program pastes.
    public func restored(_ draft: String) {
        isRestoring = true
        self.draft = draft
        isRestoring = false
        input?.restored(draft)
    }

    /// Reports that the view is shown again. A new model counts as shown.
    public func appeared() { input?.appeared() }

    /// Reports that the view is no longer shown although the model stays: the user's own typing ends.
    public func disappeared() { input?.disappeared() }

    private func changed(_ typing: Typing) {
        if typing != self.typing {
            self.typing = typing
            text = words.text(for: typing)
            label = words.label(for: typing)
        }
        if let news = announcer.announcement(for: typing) { announcement = news }
    }
}

/// A user's presence, for a view to observe.
///
///     Text(bob.text)                        // "Active now", "3m ago", …
///     Circle().fill(colour(of: bob.dot))
///
/// Updated on the main actor when the presence changes or the text becomes outdated, until the model is released. Once the
/// connection has been down for ``ClientOptions/staleAfter``, the presence is unknown until a new one has confirmed it, and
/// for good once the client is closed.
@MainActor @Observable
public final class PresenceModel {
    public let user: UserID
    private var known: Presence?
    private var line = ""

    @ObservationIgnored private let client: RollcallClient
    @ObservationIgnored private let freshness: Freshness
    @ObservationIgnored private let words: LastSeenText
    @ObservationIgnored private var changes: UpdatesObserver?
    @ObservationIgnored private var time: UpdatesObserver?

    /// Creates a model of a user's presence.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - conversation: one of both users, which may be what lets this session see the other.
    ///   - client: the client that observes.
    ///   - words: the text's options; by default those of `LastSeenText` in the client's language.
    public init(
        of user: UserID, in conversation: ConversationID? = nil, from client: RollcallClient,
        text words: LastSeenText? = nil
    ) {
        self.user = user
        self.client = client
        self.words = words ?? LastSeenText(language: client.language)
        freshness = .of(client)
        known = client.known(user)
        tell()
        changes = Updates(client: client) { $0.observeShownPresence(of: user, in: conversation, $1) }
            .observe(for: self) { $0.became($1) }
    }

    /// `nil` while unknown.
    public var presence: Presence? { freshness.isStale ? nil : known }
    /// "Last seen" in words; empty while unknown.
    public var text: String { freshness.isStale ? "" : line }
    /// The colour role of the user's dot.
    public var dot: PresenceDot { PresenceDot(presence) }
    public var isOnline: Bool { presence?.status == .online }

    private func became(_ presence: Presence?) {
        if presence != known { known = presence }
        tell()
    }

    /// Updates the text, and schedules the next update for when it becomes outdated or the worker's clock is set.
    private func tell() {
        guard let now = client.serverTime else { return }
        let line = words.text(for: known, at: now)
        if line != self.line { self.line = line }
        time = client.remind(self, when: words, of: known, at: now) { $0.tell() }
    }
}

extension RollcallClient {
    /// Calls `remind` when the text becomes outdated, or when the worker's clock is set, which may be before.
    @MainActor
    fileprivate func remind<Model: AnyObject & Sendable>(
        _ model: Model, when words: LastSeenText, of presence: Presence?, at now: Timestamp,
        _ remind: @escaping @MainActor (Model) -> Void
    ) -> UpdatesObserver? {
        guard presence?.status == .offline, presence?.lastSeen != nil else { return nil }
        let validity = words.validity(for: presence, at: now) ?? .seconds(86_400)
        return UpdatesObserver(
            Task { [weak model, self] in
                if await pause(validity), let model { remind(model) }
            })
    }
}

/// The presence of many people, for a list of which only some rows are on the screen: one model for the list, and a
/// ``PresenceModel`` for each row.
///
///     List(friends) { friend in
///         Row(friend, people[friend.id, in: friend.chat]) // .dot, .text
///             .onAppear { people.appeared(friend.id) }
///             .onDisappear { people.disappeared(friend.id) }
///     }
///
/// The users of rows on the screen are watched, and the fifty that left it last, so that scrolling back shows them at once.
@MainActor
public final class PeopleModel {
    private static let most = 50

    private let client: RollcallClient
    private let words: LastSeenText
    private var rows: [UserID: PresenceModel] = [:]
    /// How many rows on the screen show each user, and the users of the others, the first to leave first.
    private var shown: [UserID: Int] = [:]
    private var hidden: [UserID] = []

    /// Creates a model of a list of people, of whom none is shown yet.
    ///
    /// - Parameters:
    ///   - client: the client that observes.
    ///   - words: the texts' options; by default those of `LastSeenText` in the client's language.
    public init(from client: RollcallClient, text words: LastSeenText? = nil) {
        self.client = client
        self.words = words ?? LastSeenText(language: client.language)
    }

    /// A user's presence, which is watched from now on. Until ``appeared(_:)``, it counts as one that has left the screen.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - conversation: one of both users, as for ``PresenceModel``: that of the first call counts.
    public subscript(_ user: UserID, in conversation: ConversationID? = nil) -> PresenceModel {
        if let known = rows[user] { return known }
        let new = PresenceModel(of: user, in: conversation, from: client, text: words)
        rows[user] = new
        hide(user)
        return new
    }

    /// Reports that a row of this user is on the screen.
    public func appeared(_ user: UserID) {
        _ = self[user]
        shown[user, default: 0] += 1
        hidden.removeAll { $0 == user }
    }

    /// Reports that a row of this user has left the screen.
    public func disappeared(_ user: UserID) {
        guard let count = shown[user] else { return }
        shown[user] = count > 1 ? count - 1 : nil
        if count == 1 { hide(user) }
    }

    private func hide(_ user: UserID) {
        hidden.append(user)
        // In groups, so that a list that scrolls sends one message for many.
        guard hidden.count >= 2 * Self.most else { return }
        for user in hidden.prefix(Self.most) { rows[user] = nil }
        hidden.removeFirst(Self.most)
    }
}

/// A list of conversations with live rows, for a view to observe: one model for the whole list.
///
///     ForEach(chats) { Row($0.title, list.typingText(in: $0.id), list.presenceText(of: $0.friend)) }
///
/// Updated on the main actor, until the model is released. Once the connection has been down for
/// ``ClientOptions/staleAfter``, presence is unknown.
@MainActor @Observable
public final class ConversationsModel {
    /// The conversations of the visible rows, and the people whose presence they show. Set it when rows scroll in and out.
    public var rows: [ConversationID: [UserID]] {
        didSet { if rows != oldValue { follow() } }
    }
    public private(set) var states: [ConversationID: ConversationState] = [:]
    private var presences: [UserID: Presence] = [:]

    @ObservationIgnored private let client: RollcallClient
    @ObservationIgnored private let freshness: Freshness
    @ObservationIgnored private let words: TypingText
    @ObservationIgnored private let lastSeen: LastSeenText
    @ObservationIgnored private var changes: UpdatesObserver?
    /// Changes when a presence text has become outdated, and the timer for the first that will.
    private var outdated = 0
    @ObservationIgnored private var reminder: (at: Timestamp, UpdatesObserver)?

    /// Creates a model of a list of conversations.
    ///
    /// - Parameters:
    ///   - rows: the visible conversations, each with the users whose presence it shows.
    ///   - client: the client that observes.
    ///   - words: the typing texts' options; by default those of `TypingText` in the client's language.
    ///   - lastSeen: the presence texts' options; by default those of `LastSeenText` in the client's language.
    public init(
        _ rows: [ConversationID: [UserID]] = [:], from client: RollcallClient, text words: TypingText? = nil,
        lastSeen: LastSeenText? = nil
    ) {
        (self.rows, self.client) = (rows, client)
        self.words = words ?? TypingText(language: client.language)
        self.lastSeen = lastSeen ?? LastSeenText(language: client.language)
        freshness = .of(client)
        became(client.known(rows))
        follow()
    }

    /// Who is typing in a conversation, as a line; empty if nobody is.
    public func typingText(in conversation: ConversationID) -> String {
        states[conversation].map { words.text(for: $0.typing) } ?? ""
    }

    /// "Last seen" in words; empty while unknown, or if no row has the user. One timer updates the texts of all rows.
    public func presenceText(of user: UserID) -> String {
        _ = outdated
        guard let presence = presence(of: user), let now = client.serverTime else { return "" }
        let end = lastSeen.validity(for: presence, at: now).map { now.advanced(by: $0) }
        if let end, reminder.map({ end < $0.at || $0.at <= now }) ?? true {
            let timer = client.remind(self, when: lastSeen, of: presence, at: now) {
                $0.reminder = nil
                $0.outdated += 1
            }
            reminder = timer.map { (end, $0) }
        }
        return lastSeen.text(for: presence, at: now)
    }

    /// A user's presence; `nil` while unknown, or if no row has the user.
    public func presence(of user: UserID) -> Presence? {
        freshness.isStale ? nil : presences[user]
    }

    private func follow() {
        // The old rows end once the new ones are observed.
        changes = client.conversations(rows).observe(for: self) { $0.became($1) }
    }

    private func became(_ states: [ConversationID: ConversationState]) {
        guard states != self.states else { return }
        self.states = states
        presences = states.values.reduce(into: [:]) { $0.merge($1.presences) { one, _ in one } }
    }
}

/// The members of a conversation and their presence, for a view to observe.
///
///     Text(group.countText)                             // "3 of 5 online"
///     ForEach(group.people) { Row($0.name, PresenceDot($0.presence)) }
///
/// Updated on the main actor, until the model is released. Once the connection has been down for
/// ``ClientOptions/staleAfter``, presence is unknown.
@MainActor @Observable
public final class MembersModel {
    public let conversation: ConversationID
    public private(set) var members: Members

    @ObservationIgnored private let freshness: Freshness
    @ObservationIgnored private let language: Language
    @ObservationIgnored private var changes: UpdatesObserver?

    /// Creates a model of a conversation's members.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - client: the client that observes.
    ///   - language: that of ``countText``; by default the client's.
    public init(of conversation: ConversationID, from client: RollcallClient, language: Language? = nil) {
        self.conversation = conversation
        self.language = language ?? client.language
        freshness = .of(client)
        members = client.engine.shared.withLock { $0.members[conversation] } ?? Members(conversation: conversation)
        changes = client.members(of: conversation).observe(for: self) { $0.members = $1 }
    }

    /// Why the worker shows nothing of the conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError? { members.refusal }
    public var people: [Member] {
        freshness.isStale ? members.people.map { Member(user: $0.user, name: $0.name) } : members.people
    }
    /// Of those whose presence is known.
    public var count: GroupCount { members.groupCount }
    /// `3 of 5 online`; empty while no presence is known, or if there are no members.
    public var countText: String {
        people.contains { $0.presence != nil } ? count.text(in: language) : ""
    }
}

/// The state of the connection, for a view to observe. Updated on the main actor, until the model is released.
@MainActor @Observable
public final class ConnectionModel {
    public private(set) var state: ConnectionState
    /// Since when what is shown of others may be old; see ``RollcallClient/RollcallClient/staleSince``.
    public private(set) var staleSince: Timestamp?
    @ObservationIgnored private let freshness: Freshness
    @ObservationIgnored private let language: Language
    @ObservationIgnored private var changes: UpdatesObserver?

    /// Creates a model of a client's connection.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - language: that of ``text``; by default the client's.
    public init(of client: RollcallClient, language: Language? = nil) {
        state = client.connection.latest
        self.language = language ?? client.language
        freshness = .of(client)
        changes = client.connection.observe(for: self) { [unowned client] in
            $0.state = $1
            $0.staleSince = client.staleSince
        }
    }

    public var isConnected: Bool { state.isConnected }
    /// Whether it has been down for ``ClientOptions/staleAfter``.
    public var isStale: Bool { freshness.isStale }
    /// What to tell the user: empty while connected, and for the first seconds without a connection. See
    /// ``ConnectionState/text(in:)``.
    public var text: String {
        if case .failed = state { return state.text(in: language) }
        return isStale ? state.text(in: language) : ""
    }
}

// What the client knows already, so that a new model is not empty until the first update.
extension RollcallClient {
    var language: Language { options.language ?? .current }

    fileprivate func known(_ user: UserID) -> Presence? { engine.shared.withLock { $0.presences[user] } }

    fileprivate func known(_ rows: [ConversationID: [UserID]]) -> [ConversationID: ConversationState] {
        engine.shared.withLock { shared in
            rows.reduce(into: [:]) { states, row in
                let presences = row.value.compactMap { shared.presences[$0] }
                states[row.key] = ConversationState(
                    typing: shared.typing[row.key] ?? Typing(conversation: row.key),
                    presences: Dictionary(presences.map { ($0.user, $0) }) { one, _ in one })
            }
        }
    }
}

/// Whether presence is too old to be shown. One for all models of a client.
@MainActor @Observable
final class Freshness {
    private(set) var isStale = false
    @ObservationIgnored private var changes: UpdatesObserver?

    static func of(_ client: RollcallClient) -> Freshness {
        if let known = client.freshness { return known }
        let new = Freshness()
        new.changes = client.isStale.observe(for: new) { $0.isStale = $1 }
        client.freshness = new
        return new
    }
}

#if canImport(SwiftUI)
    extension AppPhase {
        /// Converts SwiftUI's phase. A phase that is not known here counts as ``inactive``.
        public init(_ phase: ScenePhase) {
            switch phase {
            case .active: self = .active
            case .inactive: self = .inactive
            case .background: self = .background
            @unknown default: self = .inactive
            }
        }
    }
#endif
