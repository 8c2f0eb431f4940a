// Several users observed as one: a snapshot of a thousand is one value, not a thousand.

import NIOCore

/// The presence of some users, told at most once a tick.
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
