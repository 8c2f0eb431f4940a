// Somebody whom a test plays: what they do is seen by the app under test.

/// Another user of a ``FakeWorker``.
public struct FakePerson: Sendable {
    public let user: UserID
    public let name: String?
    let worker: FakeWorker

    /// Begins to type, and goes on until they stop.
    public nonisolated(nonsending) func types(in conversation: ConversationID) async {
        await worker.happens { $0.typed(Typist(user: user, name: name), true, in: conversation) }
    }

    public nonisolated(nonsending) func stops(in conversation: ConversationID) async {
        await worker.happens { $0.typed(Typist(user: user, name: name), false, in: conversation) }
    }

    /// Is here.
    public nonisolated(nonsending) func comes() async { await become(.online) }

    /// Leaves the app open and untouched.
    public nonisolated(nonsending) func idles() async { await become(.away) }

    /// Is gone, and was last seen just now.
    public nonisolated(nonsending) func goes() async { await become(.offline) }

    /// Has been offline since some time ago.
    public nonisolated(nonsending) func was(lastSeen ago: Duration) async {
        await worker.happens { $0.became(.offline, user, lastSeen: $0.time.advanced(by: .zero - ago)) }
    }

    private nonisolated(nonsending) func become(_ status: PresenceStatus) async {
        await worker.happens { $0.became(status, user, lastSeen: $0.time) }
    }
}
