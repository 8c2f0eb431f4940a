// Limits per user, over all event loops: `limits.sessions_per_user`, and how often the user's devices may connect. It
// is used only when a session starts and ends. Users are spread over several locks to reduce contention.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore
internal import RollcallProtocol

/// The sessions of each user's devices.
final class UserSeats: Sendable {
    /// A session's place, from its hello to its end.
    struct Seat: Hashable, Sendable {
        let user: UserID
        let device: DeviceID
    }

    /// Why there is no seat.
    enum Refusal: Hashable {
        /// The user's other devices here use all seats.
        case devices
        /// A device connects faster than its old sessions end.
        case replacements
        /// The user's devices connect and disconnect too often. Each time costs writes to Redis.
        case hellos

        var end: SessionEnd { self == .devices ? .tooManySessions : .busy() }
        var limit: Limit { self == .hellos ? .hellosPerUser : .sessionsPerUser }
    }

    /// How many sessions beyond the limit may wait to be replaced. A device's new session replaces the old one, but not
    /// immediately, and while Redis is away only after it is back.
    static let beingReplaced = 32

    private struct Part {
        /// The device of each session, by user.
        var devices: [UserID: [DeviceID]] = [:]
        /// When each user who connected recently has a full allowance again.
        var hellos: [UserID: NIODeadline] = [:]
        /// The number of allowances at which full ones are removed.
        var crowded = few

        static let few = 64
    }

    private let limit: Int
    private let hellosAtOnce: Int
    private let helloPause: TimeAmount
    private let parts = (0..<16).map { _ in NIOLockedValueBox(Part()) }

    /// - Parameter limit: The most devices of one user here. All of them may connect four times in a burst, as on a bad
    ///   network, and a quarter of them each second; at least as many as for 20 devices.
    init(limit: Int) {
        self.limit = limit
        hellosAtOnce = max(20, limit) * 4
        helloPause = .nanoseconds(1_000_000_000 / Int64(max(20, limit) / 4))
    }

    /// Takes a seat. Release it exactly once.
    ///
    /// - Returns: Why there is none; `nil` on success.
    func take(_ seat: Seat, at now: NIODeadline) -> Refusal? {
        part(of: seat.user).withLockedValue { part in
            let devices = part.devices[seat.user] ?? []
            guard devices.contains(seat.device) || Set(devices).count < limit else { return .devices }
            guard devices.count < limit + Self.beingReplaced else { return .replacements }
            guard takeHello(of: seat.user, from: &part, at: now) else { return .hellos }
            part.devices[seat.user, default: []].append(seat.device)
            return nil
        }
    }

    private func takeHello(of user: UserID, from part: inout Part, at now: NIODeadline) -> Bool {
        let rested = max(part.hellos[user] ?? now, now)
        guard rested - now <= helloPause * (hellosAtOnce - 1) else { return false }
        part.hellos[user] = rested + helloPause
        if part.hellos.count > part.crowded {
            part.hellos = part.hellos.filter { $0.value > now }
            part.crowded = max(Part.few, part.hellos.count * 2)
        }
        return true
    }

    func release(_ seat: Seat) {
        part(of: seat.user).withLockedValue { part in
            guard let index = part.devices[seat.user]?.firstIndex(of: seat.device) else { return }
            part.devices[seat.user]?.remove(at: index)
            if part.devices[seat.user]?.isEmpty == true { part.devices[seat.user] = nil }
        }
    }

    /// How many users have a device here, and how many allowances are stored.
    var users: Int { parts.map { $0.withLockedValue(\.devices.count) }.reduce(0, +) }
    var budgets: Int { parts.map { $0.withLockedValue(\.hellos.count) }.reduce(0, +) }

    private func part(of user: UserID) -> NIOLockedValueBox<Part> {
        parts[Int(UInt(bitPattern: user.hashValue) % UInt(parts.count))]
    }
}
