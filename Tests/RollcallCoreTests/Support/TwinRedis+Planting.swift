import RollcallProtocol

@testable import RedisTwin

/// What a story puts into Redis, or finds there, past all scripts.
extension TwinRedis {
    var records: [UserID: PresenceRecord] {
        get { presences.mapValues(\.value) }
        set { presences = newValue.mapValues { Expiring(value: $0, expires: nil) } }
    }

    var listed: [Incarnation: Set<SessionName>] {
        get { sessions }
        set { sessions = newValue }
    }
}
