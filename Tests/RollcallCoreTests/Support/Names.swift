import RollcallCore
public import RollcallProtocol

extension Identifier: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        do {
            try self.init(text)
        } catch {
            preconditionFailure("a test's name \(text) \(error)")
        }
    }
}

extension MessageID: ExpressibleByStringLiteral {
    public init(stringLiteral text: StaticString) { self = .text(ByteString(stringLiteral: text)) }
}

/// So long after the start of the test's clock.
func at(_ duration: Duration) -> Instant { Instant(nanoseconds: 0) + duration }

func redis(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

func session(_ user: UserID, _ device: DeviceID = "phone", _ random: String = "s1") -> SessionName {
    SessionName(user: user, device: device, session: SessionID(random: ByteString(random)))
}

let w1 = Incarnation(name: "w1.a")
let w2 = Incarnation(name: "w2.b")

extension WorkerNotice {
    /// As its worker reads it: of `MS-RANDOM` only the second half counts.
    static func sentAway(_ name: SessionName) -> Self {
        .sentAway(user: name.user, device: name.device, session: ByteString("0-\(name.session.random)"))
    }

    static func replaced(_ name: SessionName) -> Self {
        .replaced(user: name.user, device: name.device, session: ByteString("0-\(name.session.random)"))
    }
}
