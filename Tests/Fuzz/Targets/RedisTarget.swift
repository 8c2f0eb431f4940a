// Fuzzes what Redis, or anything else at its address, sends: whole and in pieces.

import NIOCore

@testable import RollcallRedis

enum RedisTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        var input = Input(bytes)
        let seed = input.byte()
        let pieces = input.pieces(seed: seed)
        let (whole, cut) = (read([pieces.flatMap { $0 }]), read(pieces))
        expect(cut.failed == whole.failed, "cut otherwise, one is the protocol's and one is not")
        expect(cut.replies == whole.replies, "cut otherwise, the replies are others")
    }

    private static func read(_ pieces: [[UInt8]]) -> (replies: [RedisValue], failed: Bool) {
        let reader = RESPReader(maximumReplyBytes: 1 << 16)
        var replies: [RedisValue] = []
        for piece in pieces {
            let error = reader.feed(ByteBuffer(bytes: piece)) {
                _ = $0.push
                $0.forEachField { _, _ in }
                replies.append($0.tree)
                return true
            }
            if error != nil { return (replies, true) }
        }
        return (replies, false)
    }
}
