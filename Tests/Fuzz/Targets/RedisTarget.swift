// Fuzzes what Redis, or anything else at its address, sends: with both decoders, whole and in pieces.

import NIOCore

@testable import RollcallRedis

enum RedisTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        var input = Input(bytes)
        let seed = input.byte()
        let pieces = input.pieces(seed: seed)
        compare(pieces) { replies(FlatDecoder(), $0) }
        compare(pieces) { replies(PushDecoder(), $0) }
    }

    private static func compare<Reply: Equatable>(
        _ pieces: [[UInt8]], _ read: ([[UInt8]]) -> (replies: [Reply], failed: Bool)
    ) {
        let whole = read([pieces.flatMap { $0 }])
        let cut = read(pieces)
        expect(cut.failed == whole.failed, "cut otherwise, one is the protocol's and one is not")
        expect(cut.replies == whole.replies, "cut otherwise, the replies are others")
    }

    private static func replies<Decoder: ReplyDecoder>(
        _ decoder: Decoder, _ pieces: [[UInt8]]
    ) -> (replies: [Decoder.Reply], failed: Bool) {
        let reader = ReplyReader(decoder, maximumReplyBytes: 1 << 16)
        var replies: [Decoder.Reply] = []
        for piece in pieces {
            let error = reader.feed(ByteBuffer(bytes: piece)) {
                replies.append($0)
                return true
            }
            if error != nil { return (replies, true) }
        }
        return (replies, false)
    }
}
