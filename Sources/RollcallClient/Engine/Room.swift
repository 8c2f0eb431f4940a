// One conversation that is observed or typed in.

import NIOCore

/// What is shown of one conversation. Used on the client's loop only.
final class Room {
    let conversation: ConversationID
    var topic = Topic<Typing>()
    /// The members, while they are observed or the worker still sends them.
    var gathering: Gathering?
    private let names: NameBook
    private var picture: TypingPicture
    private let loop: any EventLoop
    private let clock: SteadyClock
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in
        picture.deadlinePassed(at: clock.now)
        show()
    }

    init(_ conversation: ConversationID, names: NameBook, on loop: any EventLoop, by clock: SteadyClock) {
        self.conversation = conversation
        self.names = names
        self.loop = loop
        self.clock = clock
        picture = TypingPicture(conversation: conversation)
    }

    func heard(_ message: ServerMessage.Typing, expiry: Duration) {
        picture.heard(message, expiry: expiry, at: clock.now)
        show()
    }

    func refused(_ error: RollcallError) {
        picture.refused(error)
        show()
    }

    /// The users whose names are shown here.
    var users: [UserID] { picture.typing.typists.map(\.user) + (gathering?.users ?? []) }

    func namesLearnt(of users: Set<UserID>) {
        gathering?.namesLearnt(of: users)
        if topic.latest != nil, picture.typing.typists.contains(where: { users.contains($0.user) }) { show() }
    }

    private func show() {
        var typing = picture.typing
        for index in typing.typists.indices {
            if let name = names.name(of: typing.typists[index].user) { typing.typists[index].name = name }
        }
        topic.update(typing)
        alarm.set(picture.deadline)
    }
}
