// One conversation with devices of different users, spread over the servers of a stand.

import RollcallClient
import RollcallLoad
import RollcallModel

/// Devices that have sent their hello and joined the same conversation.
final class Room {
    /// A received typing message.
    struct Heard {
        let device: Int
        /// The number of typing users in the message.
        let typing: Int
        /// When it arrived, in seconds; see ``now()``.
        let at: Double
    }

    private static let conversation: ConversationID = "room"
    /// The beginning of every typing message of this conversation: fields are in alphabetical order.
    private static let beginning = Array(#"{"conversation":"room","count":"#.utf8)
    private static let typing = [false, true].map { DeviceFrame.message(.typing(conversation, $0)) }

    private var crowd: Crowd
    private var joined = 0
    private(set) var bytes = 0
    /// Messages that arrived and were not returned yet.
    private var heard: [Heard] = []

    init(_ stand: Stand, people: Int) throws {
        crowd = try Crowd()
        let join = DeviceFrame.message(.join(Self.conversation, presence: false), id: .integer(1))
        for number in 0..<people {
            _ = try crowd.connect(to: stand.addresses[number % stand.addresses.count])
            let hello = ClientMessage.Hello(token: "user\(number)", device: "phone")
            crowd.send(DeviceFrame.message(.hello(hello)) + join, from: number)
            // As many at a time as a server accepts without overflowing a queue.
            if number % 100 == 99 { try wait(for: "devices to join") { $0.joined > number } }
        }
        try wait(for: "devices to join") { $0.joined == people }
        // Skips the first typing message to each device.
        _ = listen(milliseconds: 200)
        heard = []
    }

    /// Starts or stops the typing of a device's user.
    func type(_ isTyping: Bool, on device: Int) {
        crowd.send(Self.typing[isTyping ? 1 : 0], from: device)
    }

    /// Returns the messages that arrive until something happens, at most for this time.
    func listen(milliseconds: Int) -> [Heard] {
        heard.removeAll(keepingCapacity: true)
        turn(milliseconds)
        return heard
    }

    private func turn(_ milliseconds: Int) {
        var (joined, bytes) = (joined, bytes)
        crowd.turn(for: .milliseconds(milliseconds)) { _, device, event in
            guard case .text(let text) = event else { return }
            bytes += text.count
            if let typing = Self.count(in: text) {
                heard.append(Heard(device: device, typing: typing, at: now()))
            } else if text.count < 40, text.starts(with: #"{"id":1,"#.utf8) {
                joined += 1
            }
        }
        (self.joined, self.bytes) = (joined, bytes)
    }

    private func wait(for what: String, _ isOver: (Room) -> Bool) throws {
        let deadline = now() + 30
        while !isOver(self) {
            guard now() < deadline else { throw LoadError("waited 30 s in vain for \(what)") }
            turn(100)
        }
    }

    private static func count(in text: UnsafeRawBufferPointer) -> Int? {
        guard text.starts(with: beginning) else { return nil }
        var count = 0
        for byte in text.dropFirst(beginning.count) {
            guard byte != UInt8(ascii: ",") else { break }
            count = count * 10 + Int(byte) - 48
        }
        return count
    }
}
