// A user controlled by the test. The app under test sees what this user does.

/// Another user of a ``FakeWorker``. Its methods return when the app under test has reacted.
public struct FakePerson: Sendable {
    public let user: UserID
    public let name: String?
    let worker: FakeWorker

    /// Starts to type, and continues until ``stops(in:)``.
    public nonisolated(nonsending) func types(in conversation: ConversationID) async {
        await worker.happens { $0.typed(by: user, named: name, on: nil, true, in: conversation) }
    }

    /// Stops typing.
    public nonisolated(nonsending) func stops(in conversation: ConversationID) async {
        await worker.happens { $0.typed(by: user, named: name, on: nil, false, in: conversation) }
    }

    /// Becomes online.
    public nonisolated(nonsending) func comes() async { await become(.active) }

    /// Becomes away, as if the app stayed open without input.
    public nonisolated(nonsending) func idles() async { await become(.idle) }

    /// Goes offline, last seen now.
    public nonisolated(nonsending) func goes() async { await was(lastSeen: .zero) }

    /// Makes the user offline, last seen this long ago.
    public nonisolated(nonsending) func was(lastSeen ago: Duration) async {
        await worker.happens {
            $0.changed(to: nil, user, on: nil, lastSeen: $0.time.advanced(by: .zero - ago), isShown: true)
        }
    }

    private nonisolated(nonsending) func become(_ state: DeviceState) async {
        await worker.happens { $0.changed(to: state, user, on: nil, lastSeen: $0.time) }
    }
}
