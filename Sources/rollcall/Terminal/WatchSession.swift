// `rollcall watch` on a terminal that supports drawing.

import RollcallClient
import RollcallTerminal

/// A live view of conversations and users.
struct WatchSession: Sendable {
    let watched: Watched
    let layout: WatchScreen
    let client: RollcallClient

    /// Shows the view until the user leaves.
    func run() async throws {
        let show = { @Sendable [layout, client] (watched: Watched, size: Size) in
            layout.screen(of: watched, at: client.serverTime, on: size)
        }
        try await LiveScreen.show(watched, layOut: show) { screen in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await follow(on: screen) }
                group.addTask { try await keepTime(on: screen) }
                group.addTask { try await screen.untilLeft() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func follow(on screen: LiveScreen<Watched>) async throws {
        try await client.follow(conversations: watched.conversations, users: watched.users) { change in
            try await screen.change { $0.changed(change) }
        }
    }

    /// Updates the screen every second, since "last seen" texts may contain seconds.
    private func keepTime(on screen: LiveScreen<Watched>) async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            try await screen.update()
        }
    }
}
