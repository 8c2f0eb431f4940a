// Fuzzes a client's frames. They must have the same meaning however the network splits them, and no message may exceed
// the limit or contain invalid UTF-8.

import NIOCore

@testable import RollcallServer

enum WebSocketTarget {
    private static let limit = 300

    @Sendable static func take(_ bytes: [UInt8]) {
        var input = Input(bytes)
        let seed = input.byte()
        let pieces = input.pieces(seed: seed)
        let whole = heard([pieces.flatMap { $0 }])
        expect(heard(pieces) == whole, "cut otherwise, the frames mean something else")
    }

    /// What a decoder returned.
    private enum Heard: Equatable {
        case text(ByteBuffer)
        case other(WebSocketDecoder.Event)
        case broken(WebSocketViolation)
    }

    private static func heard(_ pieces: [[UInt8]]) -> [Heard] {
        var decoder = WebSocketDecoder(limit: limit)
        var message = ByteBuffer()
        var heard: [Heard] = []
        for piece in pieces {
            var input = ByteBuffer(bytes: piece)
            do throws(WebSocketViolation) {
                while let event = try decoder.next(&input, message: &message) {
                    heard.append(event == .text ? .text(checked(message)) : .other(event))
                }
            } catch {
                return heard + [.broken(error)]
            }
            expect(input.readableBytes == 0, "bytes were left")
        }
        return heard
    }

    private static func checked(_ message: ByteBuffer) -> ByteBuffer {
        expect(message.readableBytes <= limit, "a message is too long")
        expect(String(validating: message.readableBytesView, as: UTF8.self) != nil, "a message is no UTF-8")
        return message
    }
}
