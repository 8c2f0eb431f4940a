// Who has a conversation open (a document, a stream, a support case), and that this device has: values, the entry that an app
// keeps, the text and the model for views.

internal import Foundation
public import Observation

/// Who has a conversation open, the client's own user included.
public struct Here: Hashable, Sendable {
    public var conversation: ConversationID
    /// The first of them, as many as the worker names (`here.names`), the longest here first. If there are more, without data.
    /// `HereUser.name` is the app's name for the user (``ClientOptions/names``), or else that of the sign-in.
    public var users: [HereUser]
    /// The number of users, named or not.
    public var count: Int
    /// The client's own user; `nil` before the first connection.
    public var ownUser: UserID?
    /// Why the worker shows nothing of this conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError?

    public init(
        conversation: ConversationID, users: [HereUser] = [], count: Int? = nil, ownUser: UserID? = nil,
        refusal: RollcallError? = nil
    ) {
        (self.conversation, self.users, self.ownUser, self.refusal) = (conversation, users, ownUser, refusal)
        self.count = count ?? users.count
    }

    /// ``users`` without the client's own.
    public var others: [HereUser] { users.filter { $0.user != ownUser } }

    /// How many others there are, named or not.
    public var otherCount: Int { max(0, count - (users.count - others.count)) }
}

extension HereUser: Identifiable {
    public var id: UserID { user }
}

// MARK: Data

extension HereData {
    /// Encodes what a user shows. Its JSON must be an object, nested at most eight deep; a worker refuses more than
    /// `limits.here_data` bytes (512).
    ///
    /// - Throws: an `EncodingError`.
    public init(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(value)
        guard let data = HereData(stored: ByteString(String(decoding: json, as: UTF8.self))) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "data is a small object, nested at most eight deep"))
        }
        self = data
    }

    /// The data as a type of the app; `nil` if it is not of this type, as another version of the app may have sent it.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.string.utf8))
    }
}

extension HereUser {
    /// What the user shows, as a type of the app; `nil` if there is nothing, or something else.
    public func data<Value: Decodable>(as type: Value.Type = Value.self) -> Value? { data?.decoded(as: type) }
}

// MARK: Having it open

/// That this device has a conversation open, for as long as this is kept: releasing it exits. The client enters again after a
/// reconnect. Several entries of one conversation count once, with the data that was set last.
///
/// All methods may be called on any thread.
///
///     let entry = try rollcall.enter("doc1", data: Cursor(section: 4))
///     try entry.show(Cursor(section: 5))
public final class HereEntry: Sendable {
    public let conversation: ConversationID
    private let client: RollcallClient

    init(in conversation: ConversationID, _ data: HereData?, of client: RollcallClient) {
        (self.conversation, self.client) = (conversation, client)
        let key = ObjectIdentifier(self)
        client.engine.run { $0.rooms.enter(conversation, data, by: key) }
    }

    deinit { close() }

    /// Shows something else. Others see the first four changes at once, and later ones at most twice a second.
    ///
    /// - Throws: as `HereData(_:)`.
    public func show(_ value: some Encodable) throws {
        let (data, key) = (try HereData(value), ObjectIdentifier(self))
        client.engine.run { [conversation] in $0.rooms.enter(conversation, data, by: key) }
    }

    /// Exits before the entry is released. A closed entry enters again with ``show(_:)``.
    public func close() {
        let key = ObjectIdentifier(self)
        client.engine.run { [conversation] in $0.rooms.exit(conversation, by: key) }
    }
}

extension RollcallClient {
    /// Has this device enter a conversation: its user has it open, for as long as the app keeps what this returns. The
    /// conversation stays joined meanwhile. A refusal is in ``problems``. A device in the background is not here.
    public func enter(_ conversation: ConversationID) -> HereEntry { HereEntry(in: conversation, nil, of: self) }

    /// The same with what the user shows there, such as a section or a colour.
    ///
    /// - Throws: as `HereData(_:)`.
    public func enter(_ conversation: ConversationID, data: some Encodable) throws -> HereEntry {
        HereEntry(in: conversation, try HereData(data), of: self)
    }

    /// Who has a conversation open: the current state, then every change. The conversation stays joined while the stream is
    /// iterated. Emits nothing before the worker's first answer. Once the connection has been down for
    /// ``ClientOptions/staleAfter``, nobody is known to be here until a new one has answered.
    public func here(in conversation: ConversationID) -> Updates<Here> {
        Updates(client: self) { $0.observeHere(in: conversation, $1) }
    }
}

// MARK: Text and model

/// Turns the others who are here into a text: `Ada and Bob are here`, `Ada, Bob, and 10 others are here`, `12 people are here`.
public struct HereText: Sendable {
    public var language: Language
    /// The maximum number of names. If more users are here, at most two are named and the others counted.
    public var maximumNames = 3
    /// The maximum length of a name in characters. Longer names are shortened.
    public var longestName = 40

    /// - Parameter language: by default the user's, which is ``Language/current``.
    public init(language: Language = .current) { self.language = language }

    /// Returns the text; empty if nobody else is here.
    public func text(for here: Here) -> String { text(for: here, isolating: true) }

    /// Returns the text for a screen reader, without isolates.
    public func label(for here: Here) -> String { text(for: here, isolating: false) }

    private func text(for here: Here, isolating: Bool) -> String {
        var words = TypingText(language: language)
        (words.maximumNames, words.longestName) = (maximumNames, longestName)
        let others = Typing(
            conversation: here.conversation, typists: here.others.map { Typist(user: $0.user, name: $0.name?.string) },
            count: here.otherCount)
        let verbs = (language.words.typing.verb.here, language.words.typing.verbs.here)
        return language.text(for: words.sentence(for: others) { _ in nil }, verbs: verbs, isolating: isolating)
    }
}

/// Who has a conversation open, for a view to observe; and that this device has, if the model enters.
///
///     AvatarStack(page)                                 // of RollcallViews
///     Text(page.text)                                   // "Ada and Bob are here"
///
/// Updated on the main actor, until the model is released. Then it also exits. Once the connection has been down for
/// ``ClientOptions/staleAfter``, nobody is known to be here until a new one has answered.
@MainActor @Observable
public final class HereModel {
    public let conversation: ConversationID
    public private(set) var here: Here

    @ObservationIgnored private let words: HereText
    @ObservationIgnored private let entry: HereEntry?
    @ObservationIgnored private var changes: UpdatesObserver?

    /// Creates a model of who has a conversation open.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - client: the client whose user looks, and enters.
    ///   - enters: whether this device has the conversation open while the model is kept.
    ///   - words: the text's options; by default those of `HereText` in the client's language.
    public init(
        in conversation: ConversationID, from client: RollcallClient, enters: Bool = true, text words: HereText? = nil
    ) {
        self.conversation = conversation
        self.words = words ?? HereText(language: client.language)
        here = client.engine.shared.withLock { $0.here[conversation] } ?? Here(conversation: conversation)
        entry = enters ? client.enter(conversation) : nil
        changes = client.here(in: conversation).observe(for: self) { $0.here = $1 }
    }

    /// Shows something of the app to the others, such as a section.
    ///
    /// - Throws: as `HereData(_:)`.
    public func show(_ value: some Encodable) throws { try entry?.show(value) }

    public var others: [HereUser] { here.others }
    public var otherCount: Int { here.otherCount }
    /// `Ada and Bob are here`; empty if nobody else is.
    public var text: String { words.text(for: here) }
    /// The same for a screen reader.
    public var label: String { words.label(for: here) }
    /// Why the worker shows nothing of the conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError? { here.refusal }
}
