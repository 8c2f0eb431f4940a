// Checks who was shown typing, and whose typing was accepted. Users never see their own typing; in a managed
// conversation, only members see typing and may type. This is checked for every device in a round, whatever the fault.

internal import Harness
internal import RollcallClient

/// A user who is not, or no longer, a member of a managed conversation.
struct Exclusion: Sendable {
    let user: UserID
    let conversation: ConversationID
    /// When the removal was confirmed; `nil` for a user who never was a member.
    let since: Moment?
}

extension Judge {
    /// The time limit until all workers know of a removal.
    private static let removalLimit = Duration.seconds(1)

    func audience() -> [Finding] {
        let broken = notes.flatMap { user, notes in
            Screen(of: notes, patience: plan.typingTimeout, until: end).views.flatMap { violations(of: user, in: $0) }
                + intrusions(of: user, notes)
        }
        return broken.isEmpty ? [Finding(.audience)] : broken.prefix(4).map { Finding(.audience, broken: $0) }
    }

    /// Returns what a user was shown of a conversation but should not have been.
    private func violations(of user: UserID, in view: Screen.View) -> [String] {
        var broken: [String] = []
        if view.typists.contains(user) { broken.append("\(user.escaped) was shown as typing to its own device") }
        for exclusion in plan.exclusions where exclusion.conversation == view.conversation {
            guard let moment = excluded(exclusion, on: view.host, from: view.from), moment < view.to else { continue }
            let since = exclusion.since.map { " \((moment - $0).short) after the removal" } ?? ""
            let name = exclusion.user.escaped
            if exclusion.user == user { broken.append("\(name), no member, was shown who types\(since)") }
            if view.typists.contains(exclusion.user) {
                broken.append("\(user.escaped) on host \(view.host) was shown \(name), no member, typing\(since)")
            }
        }
        return broken
    }

    /// Returns what a user was allowed to do in a conversation without being a member.
    private func intrusions(of user: UserID, _ notes: [Note]) -> [String] {
        let exclusions = plan.exclusions.filter { $0.user == user }
        guard !exclusions.isEmpty else { return [] }
        var host = 0
        return notes.flatMap { note -> [String] in
            let conversation: ConversationID
            let asked: Moment
            let what: String
            switch note.event {
            case .welcomed(let number):
                host = number
                return []
            case .joined(let joined, let moment): (conversation, asked, what) = (joined, moment, "join")
            case .signalled(let typed, let moment): (conversation, asked, what) = (typed, moment, "type")
            default: return []
            }
            return exclusions.compactMap { exclusion in
                guard exclusion.conversation == conversation, note.at <= end,
                    excluded(exclusion, on: host, from: asked) == asked
                else { return nil }
                let since = exclusion.since.map { " \((asked - $0).short) after the removal" } ?? ""
                return "\(user.escaped), no member, could \(what) on host \(host)\(since)"
            }
        }
    }

    /// Returns the first moment from `start` on at which the worker of a host should know that the user is not a
    /// member.
    private func excluded(_ exclusion: Exclusion, on host: Int, from start: Moment) -> Moment? {
        var moment = start
        if let since = exclusion.since {
            let spans =
                plan.blind.filter { $0.host == host }.map(\.span)
                .map { $0.lowerBound..<($0.upperBound + Promise.convergenceLimit) } + plan.unreadable
            let known = spans.sorted { $0.lowerBound < $1.lowerBound }.reduce(since + Self.removalLimit) {
                known, span in
                span.lowerBound < known ? max(known, span.upperBound) : known
            }
            moment = max(moment, known)
        }
        for span in plan.membersUnknown where span.contains(moment) { moment = span.upperBound }
        return moment
    }
}

/// What a client with one device's messages would have displayed about typing.
private struct Screen {
    /// A set of typing users that was displayed for a time.
    struct View {
        let conversation: ConversationID
        let typists: Set<UserID>
        let host: Int
        let from: Moment
        var to: Moment
    }

    private(set) var views: [View] = []

    /// - Parameter patience: how long a set is displayed if it is not repeated.
    init(of notes: [Note], patience: Duration, until end: Moment) {
        var host = 0
        var shown: [ConversationID: View] = [:]
        func hide(_ conversation: ConversationID, at moment: Moment) {
            guard var view = shown.removeValue(forKey: conversation) else { return }
            view.to = min(moment, view.from + patience)
            views.append(view)
        }
        for note in notes where note.at <= end {
            switch note.event {
            case .welcomed(let number): host = number
            case .typing(let typing):
                hide(typing.conversation, at: note.at)
                guard typing.count > 0 else { continue }
                shown[typing.conversation] = View(
                    conversation: typing.conversation, typists: Set(typing.users.map(\.user)), host: host,
                    from: note.at, to: end)
            case .removed(let conversation): hide(conversation, at: note.at)
            case .ended, .left: for conversation in Array(shown.keys) { hide(conversation, at: note.at) }
            case .tried, .presence, .here, .joined, .signalled, .refreshed, .goodbye: break
            }
        }
        for conversation in Array(shown.keys) { hide(conversation, at: end) }
    }
}
