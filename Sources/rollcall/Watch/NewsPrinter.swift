import RollcallClient

/// Prints what happens, one line each, as text or as JSON.
actor NewsPrinter {
    private let client: RollcallClient
    private let wording: Wording
    private let asJSON: Bool
    private var desk = NewsDesk()

    init(_ client: RollcallClient, in language: Language, asJSON: Bool) {
        self.client = client
        self.asJSON = asJSON
        wording = Wording(language: language)
    }

    /// Prints until the task is cancelled. While the output is busy, the client's streams skip outdated values.
    func follow(conversations: [ConversationID], users: [UserID]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [client] group in
            group.addTask { for await state in client.connection { try await self.print { $0.news(in: state) } } }
            for conversation in conversations {
                group.addTask {
                    for await typing in client.typing(in: conversation) { try await self.print { $0.news(in: typing) } }
                }
                group.addTask {
                    for await all in client.members(of: conversation) { try await self.print { $0.news(in: all) } }
                }
            }
            for user in users {
                group.addTask {
                    for await presence in client.presence(of: user) { try await self.print { $0.news(in: presence) } }
                }
            }
            try await group.waitForAll()
        }
    }

    private func print(_ news: @Sendable (inout NewsDesk) -> [News]) throws {
        for news in news(&desk) {
            if asJSON {
                try Output.json(news)
            } else if let line = wording.line(for: news, at: client.serverTime) {
                try Output.line(line)
            }
        }
    }
}
