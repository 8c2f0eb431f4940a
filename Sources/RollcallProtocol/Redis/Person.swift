// What people have decided that others see of them: the hash `person:{USER}`. Who then sees what is decided in Visibility.swift
// alone.

/// To whom a part of a user's presence is shown. Without one, it is shown to whoever may ask.
public enum Audience: String, Hashable, Sendable, Codable, CaseIterable {
    /// To those who share a conversation with the user.
    case shared
    case nobody
}

/// What a user says of themselves besides being there.
public enum Availability: String, Hashable, Sendable, Codable, CaseIterable {
    case busy
    /// Do not disturb.
    case dnd
    /// Hidden, like ``Audience/nobody``, without a change of any other setting.
    case invisible
}

/// A user's own settings, and whom they have blocked.
public struct Person: Hashable, Sendable {
    /// Who sees whether the user is there; `nil`: whoever may ask.
    public private(set) var presence: Audience?
    /// Who sees when the user was last there; `nil`: whoever may ask.
    public private(set) var lastSeen: Audience?
    public private(set) var availability: Availability?
    private var words: [Field: ByteString] = [:]
    public var text: String? { words[.text]?.string }
    public var emoji: String? { words[.emoji]?.string }
    /// When ``availability``, ``text`` and ``emoji`` end, in Redis time.
    public private(set) var until: Timestamp?
    /// When the user was last hidden from everybody: what they did until then is shown to nobody later.
    public private(set) var unseen: Timestamp?
    /// Grows with each change, also after a loss of Redis's data.
    public var revision: Int64
    /// The revision with which ``blocked`` last changed; 0 if it never did.
    public var blocksRevision: Int64
    /// Whom the user has blocked, and since when.
    public var blocked: [UserID: Timestamp] = [:]

    /// Creates somebody who has decided nothing.
    public init(revision: Int64 = 0, blocksRevision: Int64 = 0) {
        (self.revision, self.blocksRevision) = (revision, blocksRevision)
    }

    /// The most users whom one user may block.
    public static let mostBlocked = 1000
    /// The most bytes of a text, and of an emoji. What is longer is cut between characters.
    public static let (mostTextBytes, mostEmojiBytes) = (256, 32)
    /// How far ahead an end may be.
    public static let longest = Duration.seconds(366 * 86_400)

    /// A setting, as a field of the hash and of messages. person_write.lua has the same names.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        case presence, availability, text, emoji, until, unseen
        case lastSeen = "last_seen"

        /// What the user decides; the script sets the other.
        public static let settings = allCases.filter { $0 != .unseen }
        /// What ends with ``until``.
        static let passing: [Field] = [.availability, .text, .emoji, .until]
    }

    /// A setting as Redis stores it; `nil` if it is not set.
    public subscript(field: Field) -> ByteString? {
        switch field {
        case .presence: presence.map { ByteString($0.rawValue) }
        case .lastSeen: lastSeen.map { ByteString($0.rawValue) }
        case .availability: availability.map { ByteString($0.rawValue) }
        case .text, .emoji: words[field]
        case .until: until.map { ByteString("\($0.milliseconds)") }
        case .unseen: unseen.map { ByteString("\($0.milliseconds)") }
        }
    }

    /// Sets a setting, or clears it. Texts are cleaned as a name is; of one of which nothing is left, nothing is set.
    ///
    /// - Returns: whether it has a meaning to this version.
    public mutating func set(_ field: Field, to value: ByteString?) -> Bool {
        switch field {
        case .presence: presence = value.flatMap(Audience.init(word:))
        case .lastSeen: lastSeen = value.flatMap(Audience.init(word:))
        case .availability: availability = value.flatMap(Availability.init(word:))
        case .text, .emoji:
            words[field] = value?.cleaned(atMost: field == .text ? Self.mostTextBytes : Self.mostEmojiBytes)
        case .until: until = value.flatMap(Int64.init(decimal:)).map(Timestamp.init(milliseconds:))
        case .unseen: unseen = value.flatMap(Int64.init(decimal:)).map(Timestamp.init(milliseconds:))
        }
        return value == nil || field == .text || field == .emoji || self[field] != nil
    }

    /// Whether the user is hidden from everybody else, but for the end of that.
    package var hidesAll: Bool { presence == .nobody || availability == .invisible }

    /// What a patch makes of the person. A duration has no end yet.
    package func changed(by patch: PersonPatch?) -> Person {
        var person = self
        for (field, value) in patch?.settings ?? [:] { _ = person.set(field, to: value) }
        return person
    }

    /// The person at this moment: what ``until`` ends has ended.
    package func current(at time: Timestamp) -> Person {
        guard let until, until <= time else { return self }
        var person = self
        if availability == .invisible { person.unseen = max(min(unseen ?? until, time), until) }
        for field in Field.passing { _ = person.set(field, to: nil) }
        return person
    }
}

// MARK: In Redis

extension Person {
    /// Reads the fields of the hash, of which unknown ones are ignored.
    ///
    /// - Returns: `nil` if it says something that this version cannot understand, or nothing.
    package init?(stored fields: some Sequence<(field: ByteString, value: ByteString)>) {
        self.init()
        for (field, value) in fields {
            if let known = Field(word: field) {
                guard set(known, to: value) else { return nil }
            } else if field == "revision" {
                revision = Int64(decimal: value) ?? 0
            } else if field == "blocks" {
                blocksRevision = Int64(decimal: value) ?? 0
            } else if let (kind, name) = field.cut(at: ":"), kind == "block", let user = try? UserID(name) {
                blocked[user] = Timestamp(milliseconds: Int64(decimal: value) ?? 0)
            }
        }
        if revision == 0 { return nil }
    }

    /// The fields of the hash.
    package var stored: [(field: ByteString, value: ByteString)] {
        var fields = Field.allCases.compactMap { field in
            self[field].map { (field: ByteString(field.rawValue), value: $0) }
        }
        fields.append(("revision", ByteString("\(revision)")))
        if blocksRevision > 0 { fields.append(("blocks", ByteString("\(blocksRevision)"))) }
        for (user, since) in blocked {
            fields.append((ByteString("block:\(user)"), ByteString("\(since.milliseconds)")))
        }
        return fields
    }
}

/// What devices may set of what others see of their own user.
public enum PersonSelf: String, Hashable, Sendable, Codable, CaseIterable {
    case none
    /// Everything but texts, which nobody has moderated.
    case settings
    case all

    package var settings: [Person.Field] {
        switch self {
        case .none: []
        case .settings: Person.Field.settings.filter { $0 != .text && $0 != .emoji }
        case .all: Person.Field.settings
        }
    }
}

/// What changes a user's person.
public struct PersonWrite: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        /// What is not named stays.
        case patch
        /// Settings that are not named go; who is blocked stays.
        case settings
        /// All that is not named goes.
        case all
    }

    public var user: UserID
    public var kind: Kind
    /// What is set; `nil` clears.
    public var settings: [Person.Field: ByteString?]
    /// Who is blocked from now on, or no longer.
    public var blocks: [UserID: Bool]
    /// The person as the worker knows it. If Redis has an older one, or none, this is stored first.
    public var known: Person?

    public init(
        of user: UserID, _ kind: Kind = .patch, settings: [Person.Field: ByteString?] = [:],
        blocks: [UserID: Bool] = [:], known: Person? = nil
    ) {
        (self.user, self.kind, self.settings, self.blocks, self.known) = (user, kind, settings, blocks, known)
    }
}

/// The result of a ``PersonWrite``.
public struct PersonWritten: Hashable, Sendable {
    public var time: Timestamp
    /// The person afterwards; `nil` if there is none.
    public var person: Person?
    /// Whether there would have been too many blocks. Then nothing has changed.
    public var isTooMuch: Bool
    /// Those that have devices of the user, and are to be told.
    public var incarnations: [Incarnation]

    public init(time: Timestamp, person: Person?, isTooMuch: Bool = false, incarnations: [Incarnation]) {
        (self.time, self.person, self.isTooMuch, self.incarnations) = (time, person, isTooMuch, incarnations)
    }
}

// MARK: Published

/// Published on `presence:{USER}`: the user's settings have changed, or whom they have blocked.
public struct PersonChange: Hashable, Sendable {
    /// One block that came or went with the change.
    public struct Block: Hashable, Sendable {
        public var user: UserID
        public var isBlocked: Bool
        /// ``Person/blocksRevision`` before. Who knows the blocks of that revision knows the new ones.
        public var was: Int64

        public init(_ user: UserID, isBlocked: Bool, was: Int64) {
            (self.user, self.isBlocked, self.was) = (user, isBlocked, was)
        }
    }

    public var user: UserID
    /// Without ``Person/blocked``.
    public var person: Person
    /// `nil` if no block changed, or more than one.
    public var block: Block?
    public var at: Timestamp

    public init(user: UserID, person: Person, block: Block? = nil, at: Timestamp) {
        (self.user, self.person, self.block, self.at) = (user, person, block, at)
        self.person.blocked = [:]
    }
}

/// What is published on `presence:{USER}`.
package enum PresenceNews: JSONReadable {
    case presence(PresenceChange)
    case person(PersonChange)

    package init(json: JSONValue) throws(UnexpectedJSON) {
        self = try json.has("status") ? .presence(PresenceChange(json: json)) : .person(PersonChange(json: json))
    }
}

extension PersonChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let person: Person = try json.field("person")
        let (blocked, unblocked): (UserID?, UserID?) = (
            try json.optionalField("block"), try json.optionalField("unblock")
        )
        var block: Block?
        if let was: Int64 = try json.optionalField("was"), let user = blocked ?? unblocked {
            block = Block(user, isBlocked: blocked != nil, was: was)
        }
        self.init(user: try json.field("user"), person: person, block: block, at: try json.field("at"))
    }
}

extension Person: JSONReadable {
    /// - Throws: also for what only a later version understands.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        try self.init(settings: json, revision: try json.field("revision"))
        blocksRevision = try json.optionalField("blocks") ?? 0
    }

    /// Reads the settings that an object has.
    package init(settings json: JSONValue, revision: Int64) throws(UnexpectedJSON) {
        self.init(revision: revision)
        for (field, name) in Self.names {
            let value: ByteString?
            switch field {
            case .until, .unseen: value = (try json.optionalField(name) as Int64?).map { ByteString("\($0)") }
            default: value = try json.optionalField(name)
            }
            guard set(field, to: value) else { throw UnexpectedJSON("\"\(name)\" is not known") }
        }
    }

    /// Reads settings as text.
    ///
    /// - Returns: `nil` for what this version does not understand.
    package init?(settings text: ByteString, revision: Int64) {
        let read = Array(text.utf8).withUnsafeBytes { bytes in
            JSONValue(object: bytes).flatMap { try? Person(settings: $0, revision: revision) }
        }
        guard let read else { return nil }
        self = read
    }

    fileprivate static let names: [(Field, StaticString)] = [
        (.availability, "availability"), (.emoji, "emoji"), (.lastSeen, "last_seen"), (.presence, "presence"),
        (.text, "text"), (.unseen, "unseen"), (.until, "until"),
    ]

    /// What the user decides, as an object.
    package var settings: PersonSettings { PersonSettings(person: self) }
}

/// A person's settings as a JSON object.
package struct PersonSettings: JSONWritable {
    fileprivate let person: Person

    package func write(to json: inout JSONWriter) {
        json.object { person.writeSettings(to: &$0) }
    }
}

extension Person {
    /// Writes what the user decides as fields of an object.
    package func writeSettings(to json: inout JSONWriter) {
        for (field, name) in Self.names where field != .unseen {
            if field == .until { json.optionalField(name, until) } else { json.optionalField(name, self[field]) }
        }
    }
}

extension Person {
    /// A change of one setting.
    public enum Setting: Hashable, Sendable {
        /// Who sees whether the user is there; `nil`: whoever may ask.
        case presence(Audience?)
        /// Who sees when the user was last there; `nil`: whoever may ask.
        case lastSeen(Audience?)
        case availability(Availability?)
        /// A worker takes texts from devices only if `person.self` is `all`.
        case text(String?)
        case emoji(String?)
        /// When ``availability``, ``text`` and ``emoji`` end, at most a year ahead.
        case until(Timestamp?)
        /// The same, so long after the worker takes it.
        case lasting(Duration)
    }
}

/// What a user or an app's server wants to have changed of a user's settings.
public struct PersonPatch: Hashable, Sendable {
    /// What is set; `nil` clears. What is not in it stays.
    public var settings: [Person.Field: ByteString?]
    /// How long what passes is to last, in milliseconds, in place of ``Person/Field/until``.
    public var lasts: Int64?

    public init(_ settings: [Person.Field: ByteString?] = [:], lasting: Int64? = nil) {
        (self.settings, lasts) = (settings, lasting)
    }

    /// Creates a change of these settings; of two of one kind, the last counts.
    public init(_ settings: some Sequence<Person.Setting>) {
        self.init()
        for setting in settings {
            switch setting {
            case .presence(let audience): merge(Self([.presence: audience.map { ByteString($0.rawValue) }]))
            case .lastSeen(let audience): merge(Self([.lastSeen: audience.map { ByteString($0.rawValue) }]))
            case .availability(let one): merge(Self([.availability: one.map { ByteString($0.rawValue) }]))
            case .text(let text): merge(Self([.text: text.map(ByteString.init)]))
            case .emoji(let emoji): merge(Self([.emoji: emoji.map(ByteString.init)]))
            case .until(let time): merge(Self([.until: time.map { ByteString("\($0.milliseconds)") }]))
            case .lasting(let duration): merge(Self(lasting: duration.milliseconds))
            }
        }
    }

    /// Adds what is wanted later, which counts.
    package mutating func merge(_ later: PersonPatch) {
        settings.merge(later.settings) { $1 }
        if later.lasts != nil { settings[.until] = nil }
        if later.lasts != nil || later.settings[.until] != nil { lasts = later.lasts }
    }

    /// What is to be written at this moment.
    ///
    /// - Throws: a sentence for whoever sent it.
    package func settings(at time: Timestamp) throws(UnexpectedJSON) -> [Person.Field: ByteString?] {
        var settings = settings
        if let lasts { settings[.until] = ByteString("\(time.milliseconds.saturatingSum(lasts))") }
        if let until = settings[.until].flatMap(\.self).flatMap(Int64.init(decimal:)) {
            guard until > time.milliseconds else { throw UnexpectedJSON("\"until\" has passed") }
            guard until <= time.advanced(by: Person.longest).milliseconds else {
                throw UnexpectedJSON("\"until\" is at most a year ahead")
            }
        }
        return settings
    }
}

extension PersonPatch: JSONReadable {
    /// Reads the fields that are there; `null` clears.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(lasting: try json.optionalField("for"))
        guard lasts ?? 1 > 0 else { throw UnexpectedJSON("the field \"for\" is wrong: it is not positive") }
        for (field, name) in Person.names where field != .unseen {
            guard try json.has(name) else { continue }
            var person = Person()
            let value: ByteString? =
                if field == .until {
                    (try json.optionalField(name) as Int64?).map { ByteString("\($0)") }
                } else {
                    try json.optionalField(name)
                }
            guard person.set(field, to: value) else {
                throw UnexpectedJSON("the field \"\(name)\" is wrong: \"\(value?.excerpt ?? "")\" is not known")
            }
            settings.updateValue(person[field], forKey: field)
        }
        if lasts != nil, settings[.until] != nil { throw UnexpectedJSON("\"until\" and \"for\" exclude each other") }
    }

    package func writeFields(to json: inout JSONWriter) {
        json.optionalField("for", lasts)
        for (field, name) in Person.names {
            guard let value = settings[field] else { continue }
            if field == .until {
                json.field(name, value.flatMap(Int64.init(decimal:)))
            } else {
                json.field(name, value)
            }
        }
    }
}
