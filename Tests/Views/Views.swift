// `views`: measures the client's memory, on a real client with a real worker. Every kind of view that an application
// might open is opened and closed thousands of times; then 10 and 1,000 users are observed.

import ArgumentParser
import CHeap
import Foundation
import Harness
import RollcallClient
import TestSupport

@main
struct Views: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views",
        abstract: "Measures what views of the client leave behind, and what observed people cost.",
        discussion: "The program `rollcall` must stand beside this one.")

    @Option(help: "How many views are opened and closed.")
    var rounds = 10_000
    @Option(help: "How many people are observed at last, after ten.")
    var people = 1000

    func run() async throws {
        // Leak detection in this process need not include Redis and the worker.
        unsetenv("LD_PRELOAD")
        // The worker's message rate limit would only slow this down.
        let settings = ["limits.message_rate": "100000", "limits.message_burst": "100000"]
        let deployment = try await Deployment(workers: 1, settings: settings)
        let client = try await deployment.client("alice", "phone", on: 0)
        // The first views allocate what stays allocated, such as buffers.
        try await openAndClose(min(rounds, 1000), of: client)
        let before = Int(heap_bytes())
        try await openAndClose(rounds, of: client)
        say("after \(rounds) opened and closed views", growth(since: before))
        for count in [10, people] { try await observe(count, by: client) }
        await client.shutdown()
    }

    /// Opens and closes the view of a chat: a text field in which a user types, the typing users, the members, and the
    /// other user.
    private func openAndClose(_ count: Int, of client: RollcallClient) async throws {
        for number in 0..<count {
            let conversation = try ConversationID("c\(number % 100)")
            let input = client.typingInput(in: conversation)
            input.edited("Hello")
            var typing = client.typing(in: conversation).makeAsyncIterator()
            var members = client.members(of: conversation).makeAsyncIterator()
            var other = client.presence(of: try UserID("user\(number % 100)")).makeAsyncIterator()
            // Some views are kept until they have shown something, the others are closed before that.
            if number.isMultiple(of: 10) { _ = await (typing.next(), members.next(), other.next()) }
        }
        // When the last request is answered, everything before it has been processed.
        _ = await client.currentPresence(of: "alice")
    }

    private func observe(_ count: Int, by client: RollcallClient) async throws {
        let users = try (0..<count).map { try UserID("observed\(count)-\($0)") }
        let before = Int(heap_bytes())
        let views = users.map { Observer(client.presence(of: $0)) }
        try await eventually("everybody is shown") { views.allSatisfy { $0.last != nil } }
        say("for \(count) observed people, each in a view of their own", growth(since: before))
        withExtendedLifetime(views) {}
    }

    private func growth(since before: Int) -> Int { Int(heap_bytes()) - before }

    private func say(_ what: String, _ bytes: Int) {
        // A malloc that replaces the C library's does not report its size.
        guard heap_bytes() > 0 else { return }
        print("\(bytes) bytes more on the heap \(what)")
    }
}
