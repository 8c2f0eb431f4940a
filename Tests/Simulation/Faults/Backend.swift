// The application's servers: they set the members of the managed conversation.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// Sets the members from time to time.
final class Backend {
    private unowned let world: World
    private let chance: Chance
    private let conversation: ConversationID
    private var members: Set<UserID> = []

    init(_ world: World) {
        self.world = world
        chance = world.deviceChance.fork()
        conversation = world.conversations[0]
    }

    func begin() {
        members = Set(world.users.dropLast())
        setAll()
        goOn()
    }

    private func goOn() {
        world.agenda.after(chance.duration(in: .seconds(2)...Duration.seconds(8))) { [self] in
            guard !world.isStill else { return }
            if world.redis.isAwake, world.redis.refusal == nil { act() }
            goOn()
        }
    }

    private func act() {
        let user = chance.pick(world.users)
        if chance.happens(0.2) {
            members = Set(world.users.filter { _ in chance.happens(0.7) })
            setAll()
        } else if members.remove(user) != nil {
            world.redis.change { $0.removeMember(user, of: conversation) }
        } else {
            members.insert(user)
            world.redis.change { $0.setMember(user, name: user.text, of: conversation) }
        }
        world.truth.membersSet(members, of: conversation)
    }

    private func setAll() {
        let names = Dictionary(uniqueKeysWithValues: members.map { ($0, $0.text) })
        world.redis.change { $0.setMembers(names, of: conversation) }
        world.truth.membersSet(members, of: conversation)
    }
}
