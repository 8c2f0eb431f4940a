// The client's streams as one.

import RollcallClient
import RollcallTerminal

extension RollcallClient {
    /// Calls `take` with each change, until the task is cancelled. While `take` is busy, the streams skip outdated
    /// values.
    func follow(
        conversations: [ConversationID], withMembers: Bool = true, users: [UserID] = [],
        _ take: @escaping @Sendable (Change) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await state in self.connection { try await take(.connection(state)) } }
            for conversation in conversations {
                group.addTask { for await typing in self.typing(in: conversation) { try await take(.typing(typing)) } }
            }
            for conversation in conversations where withMembers {
                group.addTask { for await all in self.members(of: conversation) { try await take(.members(all)) } }
            }
            for user in users {
                group.addTask { for await presence in self.presence(of: user) { try await take(.presence(presence)) } }
            }
            try await group.waitForAll()
        }
    }
}
