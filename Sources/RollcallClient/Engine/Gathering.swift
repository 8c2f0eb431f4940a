// The members of one conversation, while they are observed.

import NIOCore

/// What is shown of a conversation's members, updated at most once per tick. Used on the client's loop only.
final class Gathering {
    /// Observes the presence of all listed members.
    let observer = ObserverID()
    var topic = Topic<Members>()
    private var picture: MembersPicture
    private let names: NameBook
    private let loop: any EventLoop
    private let clock: SteadyClock
    private var isDue = false
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in
        picture.deadlinePassed(at: clock.now)
        showSoon()
    }

    init(of conversation: ConversationID, names: NameBook, on loop: any EventLoop, by clock: SteadyClock) {
        picture = MembersPicture(of: conversation)
        self.names = names
        self.loop = loop
        self.clock = clock
    }

    var users: [UserID] { picture.users }

    func heard(_ message: ServerMessage.Members) -> (come: [UserID], gone: [UserID]) {
        defer { showSoon() }
        return picture.heard(message, at: clock.now)
    }

    func heard(_ presence: Presence) {
        picture.heard(presence)
        showSoon()
    }

    func refused(_ error: RollcallError) -> [UserID] {
        defer { showSoon() }
        return picture.refused(error)
    }

    func namesLearnt(of users: Set<UserID>) {
        if let members = topic.latest, members.people.contains(where: { users.contains($0.user) }) { showSoon() }
    }

    private func showSoon() {
        alarm.set(picture.deadline)
        guard !isDue else { return }
        isDue = true
        loop.assumeIsolated().execute { [weak self] in self?.show() }
    }

    private func show() {
        isDue = false
        if let members = picture.members(name: names.name(of:)) { topic.update(members) }
        alarm.set(picture.deadline)
    }
}
