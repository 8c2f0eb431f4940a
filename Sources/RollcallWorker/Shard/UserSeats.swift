// What one user may take of a worker, over all its event loops: `limits.sessions_per_user`, and how often the user's
// devices may connect. Asked at a hello and told of an end, never in between; users are spread over several locks, so
// that loops seldom meet at one.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallModel

/// Where the devices of users sit.
final class UserSeats: Sendable {
    /// What a session holds from its hello to its end.
    struct Seat: Hashable, Sendable {
        let user: UserID
        let device: DeviceID
    }

    /// Why there is no seat.
    enum Refusal: Hashable {
        /// The user has as many other devices here as may be.
        case devices
        /// One of the user's devices connects faster than its old sessions end.
        case replacements
        /// The user's devices connect and leave again and again. Each time costs Redis some writes.
        case hellos

        var code: CloseCode { self == .devices ? .tooManySessions : .busy }
        var limit: Limit { self == .hellos ? .hellosPerUser : .sessionsPerUser }
    }

    /// A device's newer session replaces the older, but not in the same moment, and while Redis is away only after it.
    /// So many sessions beyond the limit may wait for that.
    static let beingReplaced = 32

    private struct Part {
        /// Of each user the device of each session.
        var devices: [UserID: [DeviceID]] = [:]
        /// Of those who have connected lately. A full budget is not kept.
        var hellos: [UserID: AcceptPace] = [:]
        /// How many budgets there are when full ones are next dropped.
        var crowded = few

        static let few = 64
    }

    private let limit: Int
    private let hellosAtOnce: Int
    private let helloRate: Int
    private let parts = (0..<16).map { _ in NIOLockedValueBox(Part()) }

    /// - Parameter limit: how many devices a user may have here. All of them may connect four times at once, as on a bad
    ///   network, and a quarter of them each second; at least as many as 20 devices may.
    init(limit: Int) {
        self.limit = limit
        hellosAtOnce = max(20, limit) * 4
        helloRate = max(20, limit) / 4
    }

    /// Takes a seat, which is released once.
    ///
    /// - Returns: why there is none.
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
        var pace = part.hellos[user] ?? AcceptPace(rate: helloRate, burst: hellosAtOnce)
        let isWithin = pace.wait(at: now) == .zero
        if isWithin { pace.accepted(at: now) }
        part.hellos[user] = pace
        if part.hellos.count > part.crowded {
            part.hellos = part.hellos.filter { !$0.value.isRested(at: now) }
            part.crowded = max(Part.few, part.hellos.count * 2)
        }
        return isWithin
    }

    func release(_ seat: Seat) {
        part(of: seat.user).withLockedValue { part in
            guard let index = part.devices[seat.user]?.firstIndex(of: seat.device) else { return }
            part.devices[seat.user]?.remove(at: index)
            if part.devices[seat.user]?.isEmpty == true { part.devices[seat.user] = nil }
        }
    }

    /// How many users have a device here, and of how many a budget is kept.
    var users: Int { parts.map { $0.withLockedValue(\.devices.count) }.reduce(0, +) }
    var budgets: Int { parts.map { $0.withLockedValue(\.hellos.count) }.reduce(0, +) }

    private func part(of user: UserID) -> NIOLockedValueBox<Part> {
        parts[Int(UInt(bitPattern: user.hashValue) % UInt(parts.count))]
    }
}
