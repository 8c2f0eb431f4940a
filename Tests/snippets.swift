// What the documentation's snippets use without declaring it: parts that every application has.

import RollcallClient

/// A text field or a label.
@MainActor final class TextView {
    var text = ""
    var accessibilityLabel = ""
}

@MainActor let field = TextView()
@MainActor let label = TextView()
@MainActor let lastSeen = TextView()
@MainActor let count = TextView()
@MainActor let dot = TextView()
let rollcall = RollcallClient(url: "wss://chat.example/v1/connect") { try await freshToken() }
let presences: [Presence] = []
let presence = Presence(user: "bob", status: .online, lastSeen: nil, updatedAt: nil, version: 0)
let typing = Typing(conversation: "c42")
let file = ""

func freshToken() async throws -> String { "alice" }
func lookUp() async throws -> String { "42" }

/// The users that the application knows.
actor Contacts {
    func name(of user: UserID) -> String? { nil }
}

let contacts = Contacts()

struct SignedOut: Error {}
