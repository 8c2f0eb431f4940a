// Who may join a conversation, for operators: `rollcall explain USER --in CONVERSATION`.

import Foundation
package import RollcallProtocol
import RollcallServer

/// Who decides whether a user may join a conversation, and how.
package struct AdminAccess: Codable, Sendable {
    /// What decides where the token's claim `join` does not.
    package enum Decider: String, Codable, Sendable {
        case members
        case url = "access.url"
        case byDefault = "conversations.default"
    }

    package var user: UserID
    package var conversation: ConversationID
    package var by: Decider
    /// Absent while it is not known: the app's server has not been asked, or has not answered.
    package var mayJoin: Bool?
    /// Until when the app's server has admitted the user.
    package var until: Timestamp?
    /// When that was last dropped.
    package var dropped: Timestamp?
    /// What this worker does about it.
    package var state: String?
    /// Why its last request to the app's server failed; absent once one succeeded.
    package var problem: String?

    enum CodingKeys: String, CodingKey {
        case user, conversation, by
        case mayJoin = "may_join"
        case until, dropped, state, problem
    }

    init(
        _ snapshot: RoomSnapshot, of user: UserID, to conversation: ConversationID, isOpen: Bool,
        _ report: AccessProvider.Report?
    ) {
        (self.user, self.conversation) = (user, conversation)
        if snapshot.isManaged {
            (by, mayJoin) = (.members, snapshot.admitted.contains(user))
            return
        }
        guard let report else {
            (by, mayJoin) = (.byDefault, isOpen)
            return
        }
        let record = snapshot.access[user]
        (by, until, dropped) = (.url, record?.until, record?.dropped)
        if until != nil { mayJoin = true }
        state = report.failures.map {
            $0 == 0 ? "this worker is asking" : "this worker is asking, and has failed alone \($0) times"
        }
        problem = report.problem.map { "\(Int(max(0, -$0.at.timeIntervalSinceNow))) s ago: \($0.reason)" }
    }

    /// For people.
    package var lines: [String] {
        let may =
            switch (by, mayJoin) {
            case (.members, true): "\(user) may join \(conversation): it has members, and \(user) is one"
            case (.members, _): "\(user) may not join \(conversation): it has members, and \(user) is none of them"
            case (.url, true): "\(user) may join \(conversation): the app's server said so"
            case (.url, _): "the app's server decides whether \(user) may join \(conversation), and is asked on a join"
            case (.byDefault, true): "\(user) may join \(conversation): it has no members (conversations.default: open)"
            case (.byDefault, _):
                "only a token whose claim join opens \(conversation) lets \(user) join it: it has no members"
            }
        return [may]
            + [
                until.map { "until    \($0.date)" }, dropped.map { "dropped  \($0.date)" }, state,
                problem.map { "its last request failed \($0)" },
            ].compactMap { $0 }
    }
}

extension Timestamp {
    fileprivate var date: String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }
}
