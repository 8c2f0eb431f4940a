// What devices do once they are connected.

internal import RollcallModel

/// Decides what devices do. Every call happens at ``Stage/now``.
protocol Scenario {
    /// Whether all devices connect before the measurement begins.
    var gathers: Bool { get }

    /// What a device sends after its hello, and how many acknowledgements it then waits for.
    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int)

    /// The measurement begins.
    mutating func began(_ stage: inout Stage)
    /// A device is connected, and has received everything that it requested at first.
    mutating func settled(_ device: Int, _ stage: inout Stage)
    /// A device's connection has ended.
    mutating func ended(_ device: Int, _ stage: inout Stage)
    /// A device was to do something at `due`.
    mutating func act(_ cue: Cue, due: Moment, _ stage: inout Stage)

    /// Returns what a message shows; `nil` if it does not count.
    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture?
    mutating func heard(_ device: Int, _ picture: TypingPicture, _ stage: inout Stage)
}

extension Scenario {
    var gathers: Bool { true }
    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) { ([], 0) }
    mutating func began(_ stage: inout Stage) {}
    mutating func settled(_ device: Int, _ stage: inout Stage) {}
    mutating func ended(_ device: Int, _ stage: inout Stage) {}
    mutating func act(_ cue: Cue, due: Moment, _ stage: inout Stage) {}
    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture? { nil }
    mutating func heard(_ device: Int, _ picture: TypingPicture, _ stage: inout Stage) {}
}

extension ScenarioKind {
    func scenario(_ plan: Plan) -> any Scenario {
        switch self {
        case .idle: Idle(plan)
        case .storm: Storm()
        case .chat: Chat(plan)
        case .room: Room(plan)
        case .reconnect: Reconnect(plan)
        case .witness: Pairs(plan)
        }
    }
}
