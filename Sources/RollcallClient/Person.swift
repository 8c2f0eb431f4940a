// What the client's own user decides that others see, and a model of it.

public import Observation

extension RollcallClient {
    /// What this client's user has decided that others see: the current settings, then every change on any device. As if nothing
    /// were set until the worker has told, right after the connection. Whom the user has blocked, only the app's server knows.
    public var person: Updates<Person> {
        Updates(client: self) { $0.observePerson($1) }
    }

    /// Sets what others see of this client's user: on all devices, until it is set again. What is not named stays.
    ///
    ///     rollcall.setPerson(.availability(.dnd), .lasting(.seconds(3600)))
    ///     rollcall.setPerson(.lastSeen(.nobody))
    ///
    /// ``person`` shows it at once, and others see it within a second of a worker taking it. It is sent again after a reconnect
    /// until a worker has taken it. A worker takes four changes at once, then one in 5 s. What it does not allow
    /// (`person.self`) is a ``problems`` entry, and then no longer shown. Does nothing if the client is closed.
    public func setPerson(_ settings: Person.Setting...) {
        let patch = PersonPatch(settings)
        engine.run { $0.person.set(patch) }
    }
}

/// What the client's own user has decided that others see, for a settings screen or a menu.
///
///     Toggle("Invisible", isOn: $me.isInvisible)
///     Button("Do not disturb for an hour") { me.set(.availability(.dnd), .lasting(.seconds(3600))) }
///     Text(me.text)                                     // "Do not disturb until 15:00"
///
/// Updated on the main actor, until the model is released; at once with what is set here.
@MainActor @Observable
public final class PersonModel {
    public private(set) var person: Person

    @ObservationIgnored private let client: RollcallClient
    @ObservationIgnored private let words: LastSeenText
    @ObservationIgnored private var changes: UpdatesObserver?

    /// Creates a model of the settings of a client's own user.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - words: the options of ``text``; by default those of `LastSeenText` in the client's language.
    public init(of client: RollcallClient, text words: LastSeenText? = nil) {
        self.client = client
        self.words = words ?? LastSeenText(language: client.language)
        person = client.engine.shared.withLock { $0.person }
        changes = client.person.observe(for: self) { $0.person = $1 }
    }

    /// See ``RollcallClient/RollcallClient/setPerson(_:)``.
    public func set(_ settings: Person.Setting...) { set(settings) }

    /// Who sees whether the user is there; `nil`: whoever may ask.
    public var presence: Audience? {
        get { person.presence }
        set { set([.presence(newValue)]) }
    }
    /// Who sees when the user was last there; `nil`: whoever may ask.
    public var lastSeen: Audience? {
        get { person.lastSeen }
        set { set([.lastSeen(newValue)]) }
    }
    /// Whether others see nothing of the user until this ends. Setting it clears `Person.until`.
    public var isInvisible: Bool {
        get { person.availability == .invisible }
        set { set([.availability(newValue ? .invisible : nil), .until(nil)]) }
    }
    /// `Do not disturb until 15:00`; empty if the user is neither busy nor wants to be left alone.
    public var text: String {
        client.serverTime.map { words.text(for: person.availability, until: person.until, at: $0) } ?? ""
    }

    private func set(_ settings: [Person.Setting]) {
        let patch = PersonPatch(settings)
        person = person.changed(by: patch)
        client.engine.run { $0.person.set(patch) }
    }
}
