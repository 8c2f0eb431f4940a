// The expected state in the simplest form: what every device did, by the rules on the protocol page.

import Foundation
import RollcallModel

/// A device, identified by its user and its name.
struct DeviceName: Hashable, CustomStringConvertible {
    let user: UserID
    let device: DeviceID

    /// As Redis names it in a set of typists.
    var description: String { "\(user) \(device)" }
}

/// What should be seen now, and what should have been seen at earlier times.
struct Model {
    typealias Instant = ContinuousClock.Instant

    struct Settings {
        let expiry: Duration
        let grace: Duration
    }

    fileprivate struct Device {
        var state: DeviceState?
        /// When a device with a lost connection stops counting.
        var graceEnd: Instant?
        var typingUntil: [ConversationID: Instant] = [:]
    }

    private let settings: Settings
    private var devices: [DeviceName: Device]
    private(set) var statuses: [UserID: Timeline<PresenceStatus>]
    private var states: [DeviceName: Timeline<DeviceState?>]
    private(set) var typists: [ConversationID: Timeline<Set<UserID>>]
    /// The members of managed conversations.
    private(set) var members: [ConversationID: Set<UserID>] = [:]
    /// When the members last changed.
    private(set) var membersChanged: [ConversationID: Instant] = [:]
    /// The last wall-clock time at which a user was certainly connected; missing if never.
    private(set) var lastThere: [UserID: Date] = [:]

    init(devices: [DeviceName], conversations: [ConversationID], settings: Settings, now: Instant) {
        self.settings = settings
        self.devices = Dictionary(uniqueKeysWithValues: devices.map { ($0, Device()) })
        states = Dictionary(uniqueKeysWithValues: devices.map { ($0, Timeline(nil, at: now)) })
        statuses = Dictionary(devices.map { ($0.user, Timeline(.offline, at: now)) }) { first, _ in first }
        typists = Dictionary(uniqueKeysWithValues: conversations.map { ($0, Timeline([], at: now)) })
    }

    // MARK: Current state

    func state(of name: DeviceName) -> DeviceState? { devices[name]?.state }

    /// Returns every status that a user's devices may have resulted in between two moments. Two devices of one user, on
    /// two workers, may reach Redis in either order.
    func possibleStatuses(of user: UserID, from start: Instant, to end: Instant) -> Set<PresenceStatus> {
        let ofDevices = states.filter { $0.key.user == user }.map { $0.value.values(from: start, to: end) }
        let together = ofDevices.reduce([[]] as [[DeviceState]]) { combinations, states in
            combinations.flatMap { combination in states.map { combination + [$0].compactMap { $0 } } }
        }
        return Set(together.map { PresenceStatus(of: $0) })
    }

    func typingDevices(in conversation: ConversationID) -> Set<DeviceName> {
        Set(devices.filter { $0.value.typingUntil[conversation] != nil }.keys)
    }

    func mayJoin(_ user: UserID, _ conversation: ConversationID) -> Bool {
        members[conversation]?.contains(user) ?? true
    }

    // MARK: Events

    /// A session began, and replaced an older one of the device if there was one.
    mutating func connected(_ name: DeviceName, _ state: DeviceState, at now: Instant) {
        change(name, at: now, lastByte: .now) { $0 = Device(state: state) }
    }

    mutating func stateChanged(_ name: DeviceName, to state: DeviceState, at now: Instant) {
        change(name, at: now, lastByte: .now) {
            $0.state = state
            if state == .background { $0.typingUntil = [:] }
        }
    }

    mutating func saidGoodbye(_ name: DeviceName, at now: Instant) {
        change(name, at: now, lastByte: .now) { $0 = Device() }
    }

    mutating func dropped(_ name: DeviceName, lastByte: Date, at now: Instant) {
        let end = now + settings.grace
        change(name, at: now, lastByte: lastByte) {
            $0.typingUntil = [:]
            $0.graceEnd = end
        }
    }

    mutating func signalled(_ name: DeviceName, in conversation: ConversationID, at now: Instant) {
        let end = now + settings.expiry
        change(name, at: now, lastByte: .now) { $0.typingUntil[conversation] = end }
    }

    mutating func stopped(_ name: DeviceName, in conversation: ConversationID, at now: Instant) {
        change(name, at: now, lastByte: .now) { $0.typingUntil[conversation] = nil }
    }

    mutating func membersBecame(_ users: Set<UserID>?, in conversation: ConversationID, at now: Instant) {
        advance(to: now)
        members[conversation] = users
        membersChanged[conversation] = now
        for name in devices.keys where !mayJoin(name.user, conversation) {
            devices[name]?.typingUntil[conversation] = nil
        }
        note(at: now)
    }

    /// Lets time pass: typing expires, and devices that did not return are gone.
    mutating func advance(to now: Instant) {
        while let (moment, name, conversation) = nextEnd(), moment <= now {
            if let conversation {
                devices[name]?.typingUntil[conversation] = nil
            } else {
                devices[name] = Device()
            }
            note(at: moment)
        }
    }

    private func nextEnd() -> (Instant, DeviceName, ConversationID?)? {
        var next: (Instant, DeviceName, ConversationID?)?
        for (name, device) in devices {
            if let end = device.graceEnd, end < next?.0 ?? end + .seconds(1) { next = (end, name, nil) }
            for (conversation, end) in device.typingUntil where end < next?.0 ?? end + .seconds(1) {
                next = (end, name, conversation)
            }
        }
        return next
    }

    private mutating func change(_ name: DeviceName, at now: Instant, lastByte: Date, _ body: (inout Device) -> Void) {
        advance(to: now)
        let wasThere = devices[name]?.isThere == true
        body(&devices[name, default: Device()])
        if wasThere || devices[name]?.isThere == true {
            lastThere[name.user] = max(lastThere[name.user] ?? .distantPast, lastByte)
        }
        note(at: now)
    }

    private mutating func note(at now: Instant) {
        for user in statuses.keys {
            let states = devices.filter { $0.key.user == user }.compactMap(\.value.state)
            statuses[user]?.became(PresenceStatus(of: states), at: now)
        }
        for (name, device) in devices { states[name]?.became(device.state, at: now) }
        for conversation in typists.keys {
            let users = Set(typingDevices(in: conversation).map(\.user))
            typists[conversation]?.became(users, at: now)
        }
    }
}

extension Model.Device {
    fileprivate var isThere: Bool { state == .active || state == .idle }
}
