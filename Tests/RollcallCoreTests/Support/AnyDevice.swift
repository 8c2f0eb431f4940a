import RollcallProtocol

@testable import RollcallCore

/// A device that says and hears nothing, but whatever token it shows proves its user.
final class AnyDevice: Peer {
    private let user: UserID

    init(user: UserID = "anybody") { self.user = user }

    func prove(_: ByteString, device _: DeviceID?) -> Proof { Proof(user: user, device: "phone") }
    func send(_: Delivery, counting _: Bool) -> Bool { true }
    func spare(_: Delivery) {}
    func tellWhenDrained() {}
    func hold() {}
    func listen() {}
    func limitHit(_: Limit) {}
    func close(_: SessionEnd) {}
}
