// Everything that is read as text: what clients and workers say, and what stands and is published in Redis. What was
// read can be written, and read again as the same.

import Foundation
import RollcallModel

enum CodecTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        let data = Data(bytes)
        client(data)
        server(data)
        published(data)
        stored(String(decoding: bytes, as: UTF8.self))
    }

    private static func client(_ data: Data) {
        let codec = MessageCodec()
        guard let request = try? codec.request(from: data) else { return }
        expect((try? codec.request(from: codec.json(of: request))) == request, "a request changed on its way")
    }

    private static func server(_ data: Data) {
        let codec = MessageCodec()
        guard let message = try? codec.message(from: data) else { return }
        expect((try? codec.message(from: codec.json(of: message))) == message, "a message changed on its way")
    }

    private static func published(_ data: Data) {
        _ = try? JSONDecoder().decode(TypingChange.self, from: data)
        _ = try? JSONDecoder().decode(PresenceChange.self, from: data)
        _ = try? JSONDecoder().decode(MemberChange.self, from: data)
        _ = WorkerNotice(payload: data)
    }

    private static func stored(_ text: String) {
        if let record = DeviceRecord(text) {
            expect(DeviceRecord("\(record)") == record, "a record changed on its way")
        }
        guard let user = try? UserID(text) else { return }
        expect(!user.text.utf8.contains { $0 <= 0x20 || $0 == 0x7B || $0 == 0x7D || $0 == 0x7F }, "a name has a brace")
    }
}
