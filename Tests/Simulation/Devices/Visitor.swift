// Random actions of a user who has conversations open.

internal import RollcallCore
internal import RollcallProtocol

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
