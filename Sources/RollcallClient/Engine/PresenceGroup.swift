// Observes several users as one: a snapshot of a thousand users is one value, not a thousand.

import NIOCore

/// The presence of several users, reported at most once per tick.
final class PresenceGroup {
    private let loop: any EventLoop
    private let tell: ([UserID: Presence]) -> Void
    private var presences: [UserID: Presence] = [:]
    private var isDue = false

    init(on loop: any EventLoop, _ tell: @escaping ([UserID: Presence]) -> Void) {
        self.loop = loop
        self.tell = tell
    }

    func heard(_ presence: Presence) {
        presences[presence.user] = presence
        guard !isDue else { return }
        isDue = true
        loop.assumeIsolated().execute { [self] in
            isDue = false
            tell(presences)
        }
    }
}
