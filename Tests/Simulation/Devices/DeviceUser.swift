// Random actions of the user of a device, and of one who has conversations open.

internal import RollcallCore
internal import RollcallProtocol

/// The user of a device.
final class DeviceUser {
    private let device: any Device
    private unowned let world: World
    private let chance: Chance
    private var typing = 0

    private enum Whim: CaseIterable {
        case changesState, babbles, types, looksUp, watches, joins, leavesCleanly, losesConnection, moves
    }

    /// Actions by frequency: each is chosen as often as it is listed.
    private static let whims: [Whim] =
        Array(repeating: .types, count: 8) + Array(repeating: .changesState, count: 6)
        + Array(repeating: .losesConnection, count: 3) + [
            .leavesCleanly, .moves, .moves, .looksUp, .watches, .joins, .babbles,
        ]

    init(_ device: any Device, in world: World) {
        self.device = device
        self.world = world
        chance = device.chance.fork()
    }

    /// Starts, and continues until the world is still.
    func live() {
        device.come(after: chance.duration(in: .zero...Duration.seconds(2)))
        goOn()
    }

    private func goOn() {
        world.agenda.after(chance.duration(in: .milliseconds(50)...Duration.seconds(3))) { [self] in
            guard !world.isStill else { return }
            act()
            goOn()
        }
    }

    private func act() {
        guard device.isInUse else { return }
        switch chance.pick(Self.whims) {
        case .changesState: device.change(to: chance.pick(DeviceState.allCases))
        case .babbles: babble()
        case .types: type()
        case .looksUp: device.lookUp(world.users)
        case .watches: watch(chance.pick(world.users))
        case .joins: join(chance.pick(world.conversations))
        case .leavesCleanly:
            device.goodbye()
            comeBack()
        case .losesConnection:
            device.lose(chance.pick(Loss.allCases))
            comeBack()
        case .moves:
            device.lose(chance.pick(Loss.allCases))
            device.come(after: .zero)
        }
    }

    /// Sends more messages than the worker accepts at once, if its burst is small.
    private func babble() {
        for _ in 0..<chance.count(in: 4...20) { device.change(to: chance.pick(DeviceState.allCases), isPaced: false) }
    }

    private func watch(_ user: UserID) {
        if device.watched.contains(user) { device.unwatch(user) } else { device.watch(user) }
    }

    private func join(_ conversation: ConversationID) {
        if device.joined.contains(conversation) { device.leave(conversation) } else { device.join(conversation) }
    }

    /// Reconnects soon, about when the grace period ends, or late.
    private func comeBack() {
        let pauses: [ClosedRange<Duration>] = [
            .zero...Duration.milliseconds(300), .milliseconds(300)...Duration.seconds(3),
            .milliseconds(4800)...Duration.milliseconds(5200), .seconds(6)...Duration.seconds(9),
        ]
        device.come(after: chance.duration(in: chance.pick(pauses)))
    }

    // MARK: Typing

    private func type() {
        guard let conversation = device.joined.sorted().first(where: { _ in chance.happens(0.5) }) else { return }
        typing += 1
        signal(in: conversation, times: chance.count(in: 1...5), typing)
    }

    private func signal(in conversation: ConversationID, times: Int, _ number: Int) {
        guard number == typing, device.isInUse, device.joined.contains(conversation), !world.isStill else {
            return
        }
        guard times > 0 else { return stop(in: conversation) }
        device.types(in: conversation)
        world.agenda.after(chance.duration(in: .milliseconds(300)...Duration.milliseconds(1300))) { [self] in
            signal(in: conversation, times: times - 1, number)
        }
    }

    /// Some users stop typing, others just do not continue.
    private func stop(in conversation: ConversationID) {
        if chance.happens(0.7) { device.stopsTyping(in: conversation) }
    }
}

/// The user of a device that enters and exits.
final class Visitor {
    private let device: SimulatedDevice
    private unowned let world: World
    private let chance: Chance
    private let data: [HereData?] = [nil, HereData(stored: "{}"), HereData(stored: #"{"section":[4,"a b"]}"#)]

    init(_ device: SimulatedDevice, in world: World) {
        self.device = device
        self.world = world
        chance = device.chance.fork()
    }

    /// Goes on until the world is still.
    func live() {
        world.agenda.after(chance.duration(in: .milliseconds(50)...Duration.seconds(3))) { [self] in
            guard !world.isStill else { return }
            act()
            live()
        }
    }

    private func act() {
        guard device.isInUse else { return }
        let conversation = chance.pick(world.conversations)
        if device.entered[conversation] != nil, chance.happens(0.4) {
            device.exit(conversation)
        } else {
            device.enter(conversation, data: chance.pick(data))
        }
    }
}
