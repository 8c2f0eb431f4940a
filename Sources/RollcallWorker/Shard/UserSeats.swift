// `limits.sessions_per_user`: how many devices a user has on this worker, over all its event loops. Asked at a hello and
// told of an end, never in between; users are spread over several locks, so that loops seldom meet at one.

internal import NIOConcurrencyHelpers
internal import RollcallModel

/// Where the devices of users sit.
final class UserSeats: Sendable {
    /// What a session holds from its hello to its end.
    struct Seat: Hashable, Sendable {
        let user: UserID
        let device: DeviceID
    }

    /// A device's newer session replaces the older, but not in the same moment, and while Redis is away only after it.
    /// So many sessions beyond the limit may wait for that.
    static let beingReplaced = 32

    /// Of each user the device of each session.
    private typealias Part = NIOLockedValueBox<[UserID: [DeviceID]]>
    private let limit: Int
    private let parts = (0..<16).map { _ in Part([:]) }

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a seat, which is released once.
    ///
    /// - Returns: why there is none, as a close code: the user has as many other devices here as may be, or one of the
    ///   user's devices connects faster than its old sessions end.
    func take(_ seat: Seat) -> CloseCode? {
        part(of: seat.user).withLockedValue { users in
            let devices = users[seat.user] ?? []
            guard devices.contains(seat.device) || Set(devices).count < limit else { return .tooManySessions }
            guard devices.count < limit + Self.beingReplaced else { return .busy }
            users[seat.user, default: []].append(seat.device)
            return nil
        }
    }

    func release(_ seat: Seat) {
        part(of: seat.user).withLockedValue { users in
            guard let index = users[seat.user]?.firstIndex(of: seat.device) else { return }
            users[seat.user]?.remove(at: index)
            if users[seat.user]?.isEmpty == true { users[seat.user] = nil }
        }
    }

    /// How many users have a device here.
    var users: Int { parts.map { $0.withLockedValue(\.count) }.reduce(0, +) }

    private func part(of user: UserID) -> Part {
        parts[Int(UInt(bitPattern: user.hashValue) % UInt(parts.count))]
    }
}
