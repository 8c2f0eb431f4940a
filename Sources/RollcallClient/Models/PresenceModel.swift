// One person as a view shows them: dot and line, right at any moment.

public import Observation

/// Whether somebody is here, for a view to observe.
///
///     Text(bob.text)                        // "Active now", "3m ago", …
///     Circle().fill(colour(of: bob.dot))
///
/// It follows the changes and the time by itself, and ends when it is let go.
@MainActor @Observable
public final class PresenceModel {
    public let user: UserID
    /// `nil` while unknown.
    public private(set) var presence: Presence?
    /// When they were last seen, in words; empty while unknown.
    public private(set) var text = ""

    @ObservationIgnored private let client: RollcallClient
    @ObservationIgnored private let words: LastSeenText
    @ObservationIgnored private var changes: Following?
    @ObservationIgnored private var time: Following?

    public init(of user: UserID, from client: RollcallClient, text words: LastSeenText = .english) {
        self.user = user
        self.client = client
        self.words = words
        changes = client.presence(of: user).follow(for: self) { $0.became($1) }
    }

    /// The colour role of their dot.
    public var dot: PresenceDot { PresenceDot(presence) }
    public var isOnline: Bool { presence?.status == .online }

    private func became(_ presence: Presence) {
        self.presence = presence
        tell()
    }

    /// Says when they were last seen, and again when time has made that wrong, or the worker's clock was set.
    private func tell() {
        guard let now = client.serverTime else { return }
        let line = words.text(for: presence, at: now)
        if line != text { text = line }
        guard presence?.status == .offline, presence?.lastSeen != nil else { return time = nil }
        let validity = words.validity(for: presence, at: now)
        time = Following(
            Task { [weak self, client] in
                if await client.pause(validity) { self?.tell() }
            })
    }
}
