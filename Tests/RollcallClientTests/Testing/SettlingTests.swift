// Tests of an application can check what it shows without waiting, even on a busy machine.

import Foundation
import RollcallTesting
import Testing

@Suite @MainActor struct SettlingTests {
    private let worker = FakeWorker()

    /// Blocks every thread of the global executor, so that anything that needs it would be late.
    private func busy(_ body: () async -> Void) async {
        let tasks = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task.detached { _ = usleep(100_000) }
        }
        await body()
        for task in tasks { await task.value }
    }

    @Test("models and tasks of the main actor have processed all updates, even if all other threads are busy")
    func mainActor() async {
        let client = worker.client(user: "alice")
        client.connect()
        let (chat, bob) = (TypingModel(in: "c42", from: client), PresenceModel(of: "bob", from: client))
        var seen: [Int] = []
        let task = Task { for await typing in client.typing(in: "c42") { seen.append(typing.count) } }
        await worker.settles()
        await busy {
            await worker.person("bob", name: "Bob").types(in: "c42")
            #expect(chat.text == "Bob is typing…")
            #expect(seen == [0, 1])
            await worker.person("bob").idles()
            #expect(bob.dot == .amber)
        }
        task.cancel()
    }

    @Test("a test outside the main actor waits for its models")
    nonisolated func elsewhere() async {
        let worker = FakeWorker()
        let client = worker.client(user: "alice")
        client.connect()
        let model = await TypingModel(in: "c42", from: client)
        await worker.person("bob", name: "Bob").types(in: "c42")
        #expect(await worker.until { await model.text == "Bob is typing…" })
    }

    @Test("an application's token and name callbacks are awaited, on any thread")
    func callbacks() async {
        var options = ClientOptions()
        options.names = { user in
            try? await Task.sleep(for: .milliseconds(20))
            return user == "bob" ? "Robert" : nil
        }
        let client = worker.client(user: "alice", options: options) { _ in
            try await Task.sleep(for: .milliseconds(20))
            return "alice"
        }
        client.connect()
        let model = TypingModel(in: "c42", from: client)
        await worker.settles()
        #expect(client.connection.latest.isConnected)
        await worker.person("bob", name: "Bob").types(in: "c42")
        #expect(model.text == "Robert is typing…")
    }

    @Test("however much time passes at once, an application's tasks see each event at its time")
    func eachInItsMoment() async {
        let client = worker.client(user: "alice")
        client.connect()
        let model = PresenceModel(of: "bob", from: client)
        let bob = worker.person("bob")
        await bob.comes()
        await worker.goesAway()
        await bob.goes()
        await worker.comesBack()
        await worker.passes(.seconds(60))
        #expect(model.text == "1m ago", "though the client came back within that minute")
        await worker.passes(.seconds(1800))
        #expect(model.text == "Active recently")
    }

    @Test("an application callback that never returns does not block its test forever")
    func unanswered() async {
        let client = worker.client(user: "alice") { _ in
            try await Task.sleep(for: .seconds(3600))
            return "alice"
        }
        client.connect()
        let clock = ContinuousClock()
        let first = await clock.measure { await worker.settles() }
        #expect(client.connection.latest == .connecting)
        // The callback is called again after a minute, and every five minutes.
        let others = await clock.measure { await worker.passes(.seconds(600)) }
        #expect(others < first * 30, "only the first call is waited for")
    }
}
