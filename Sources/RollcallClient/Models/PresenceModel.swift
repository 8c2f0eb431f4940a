// One user's presence for views: a dot and a line of text that stays correct as time passes.

public import Observation

/// A user's presence, for a view to observe.
///
///     Text(bob.text)                        // "Active now", "3m ago", …
///     Circle().fill(colour(of: bob.dot))
///
/// Updated on the main actor when the presence changes or the text becomes outdated, until the model is released.
@MainActor @Observable
public final class PresenceModel {
    public let user: UserID
    /// `nil` while unknown.
    public private(set) var presence: Presence?
    /// "Last seen" in words; empty while unknown.
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

    /// The colour role of the user's dot.
    public var dot: PresenceDot { PresenceDot(presence) }
    public var isOnline: Bool { presence?.status == .online }

    private func became(_ presence: Presence) {
        self.presence = presence
        tell()
    }

    /// Updates the text, and schedules the next update for when it becomes outdated or the worker's clock is set.
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
