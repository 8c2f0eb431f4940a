// Fuzzes all text parsers: of client and worker messages, and of what is stored and published in Redis. What was read
// can be written and read again unchanged, and Foundation reads the same.

import FoundationCodec
import RollcallProtocol

enum CodecTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        client(bytes)
        server(bytes)
        published(bytes)
        let disagreement = Comparison.disagreement(about: bytes)
        expect(disagreement == nil, disagreement ?? "")
        stored(ByteString(String(decoding: bytes, as: UTF8.self)))
    }

    private static func client(_ bytes: [UInt8]) {
        let codec = MessageCodec()
        guard let request = try? codec.request(from: bytes) else { return }
        expect((try? codec.request(from: codec.json(of: request))) == request, "a request changed on its way")
    }

    private static func server(_ bytes: [UInt8]) {
        let codec = MessageCodec()
        guard let message = try? codec.message(from: bytes) else { return }
        expect((try? codec.message(from: codec.json(of: message))) == message, "a message changed on its way")
    }

    private static func published(_ bytes: [UInt8]) {
        guard let notice = WorkerNotice(payload: bytes) else { return }
        expect(WorkerNotice(payload: notice.payload.utf8) == notice, "a notice changed on its way")
    }

    private static func stored(_ text: ByteString) {
        if let record = DeviceRecord(text) {
            expect(DeviceRecord(ByteString("\(record)")) == record, "a record changed on its way")
        }
        guard let user = try? UserID(text) else { return }
        expect(!user.text.utf8.contains { $0 <= 0x20 || $0 == 0x7B || $0 == 0x7D || $0 == 0x7F }, "a name has a brace")
    }
}
