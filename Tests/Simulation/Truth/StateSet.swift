internal import RollcallProtocol

/// The states in which a device may be shown: one when everything is settled, several while an update is in flight.
struct StateSet: OptionSet, Hashable {
    let rawValue: UInt8

    static let active = StateSet(rawValue: 1)
    static let idle = StateSet(rawValue: 2)
    static let background = StateSet(rawValue: 4)
    static let gone = StateSet(rawValue: 8)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ state: DeviceState?) {
        switch state {
        case .active: self = .active
        case .idle: self = .idle
        case .background: self = .background
        case nil: self = .gone
        }
    }
}

/// The possible statuses of a user with several devices.
struct StatusSet: Hashable {
    private(set) var statuses: Set<PresenceStatus>

    /// Combines the possible states of all devices.
    init(of devices: [StateSet]) {
        statuses = []
        if devices.contains(where: { $0.contains(.active) }) { statuses.insert(.online) }
        let mayBeAway = devices.contains { $0.contains(.idle) }
        if mayBeAway, devices.allSatisfy({ $0 != .active }) { statuses.insert(.away) }
        if devices.allSatisfy({ !$0.isDisjoint(with: [.background, .gone]) }) { statuses.insert(.offline) }
    }

    func contains(_ status: PresenceStatus) -> Bool { statuses.contains(status) }
}
