// `views`: what the client keeps in memory, measured on a real client against a real worker. Every view that an app might
// open is opened and closed thousands of times, and then people are observed, ten and a thousand.

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
        // What looks for leaks in this process need not look at Redis and the worker, too.
        unsetenv("LD_PRELOAD")
        // The worker's limit of messages a second would only make this wait.
        let settings = ["limits.message_rate": "100000", "limits.message_burst": "100000"]
        let deployment = try await Deployment(workers: 1, settings: settings)
        let client = try await deployment.client("alice", "phone", on: 0)
        // The first views fill what is kept for good, such as buffers.
        try await openAndClose(min(rounds, 1000), of: client)
        let before = Int(heap_bytes())
        try await openAndClose(rounds, of: client)
        say("after \(rounds) opened and closed views", growth(since: before))
        for count in [10, people] { try await observe(count, by: client) }
        await client.shutdown()
    }

    /// A chat's view: its field, with somebody typing in it, who types in it, who belongs to it, and the other one.
    private func openAndClose(_ count: Int, of client: RollcallClient) async throws {
        for number in 0..<count {
            let conversation = try ConversationID("c\(number % 100)")
            let input = client.typingInput(in: conversation)
            input.edited("Hello")
            var typing = client.typing(in: conversation).makeAsyncIterator()
            var members = client.members(of: conversation).makeAsyncIterator()
            var other = client.presence(of: try UserID("user\(number % 100)")).makeAsyncIterator()
            // Some are looked at until they have shown something, the others are gone before.
            if number.isMultiple(of: 10) { _ = await (typing.next(), members.next(), other.next()) }
        }
        // What is answered last has been dealt with whole.
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
        // Another malloc in the place of the C library's does not tell.
        guard heap_bytes() > 0 else { return }
        print("\(bytes) bytes more on the heap \(what)")
    }
}
