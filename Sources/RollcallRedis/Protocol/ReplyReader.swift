// Wraps hiredis's reader, which finds the end of each reply however the bytes arrive. It owns no socket: bytes come
// from NIO, and replies are built by a Swift decoder.

import CHiredis
import NIOCore

/// Turns the bytes of one connection into replies. It cannot be used after an error.
final class ReplyReader<Decoder: ReplyDecoder> {
    private let reader: UnsafeMutablePointer<redisReader>
    /// Behind a pointer, because C holds its address.
    private let state: UnsafeMutablePointer<DecoderState<Decoder>>
    private let maximumReplyBytes: Int

    init(_ decoder: Decoder, maximumReplyBytes: Int) {
        guard let reader = redisReaderCreateWithFunctions(Decoder.functions) else {
            preconditionFailure("out of memory")
        }
        self.reader = reader
        self.maximumReplyBytes = maximumReplyBytes
        state = .allocate(capacity: 1)
        state.initialize(
            to: DecoderState(decoder: decoder, allowance: maximumReplyBytes, mostSkipped: 15 * maximumReplyBytes))
        reader.pointee.privdata = UnsafeMutableRawPointer(state)
    }

    deinit {
        redisReaderFree(reader)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Reads these bytes and passes on each reply that they complete.
    ///
    /// - Parameter take: returns whether to continue; `false` if the connection is gone, so that the rest is discarded.
    /// - Returns: why the bytes violate the protocol or the limits; `nil` if they do not.
    func feed(_ bytes: ByteBuffer, _ take: (Decoder.Reply) -> Bool) -> RedisError? {
        bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                // The reader moves its unread bytes to the front after each kilobyte. With large slices, the cost would
                // be quadratic.
                let slice = UnsafeRawBufferPointer(rebasing: rest.prefix(maximumSlice))
                rest = rest.dropFirst(slice.count)
                redisReaderFeed(reader, slice.bindMemory(to: CChar.self).baseAddress, slice.count)
                switch drain(take) {
                case .wantsMore: continue
                case .stopped: return nil
                case .failed(let error): return error
                }
            }
            return nil
        }
    }

    private enum Outcome {
        case wantsMore, stopped
        case failed(RedisError)
    }

    private func drain(_ take: (Decoder.Reply) -> Bool) -> Outcome {
        while true {
            var object: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &object) == REDIS_OK else { return .failed(failure) }
            guard object != nil else { break }
            let isOversized = state.pointee.isOversized
            (state.pointee.allowance, state.pointee.isOversized) = (maximumReplyBytes, false)
            let reply = isOversized ? state.pointee.decoder.takeOversized() : state.pointee.decoder.takeReply()
            guard take(reply) else { return .stopped }
        }
        return isPlausible
            ? .wantsMore : .failed(RedisError(.protocolError, "Redis sent a reply larger than the limit"))
    }

    /// Whether the bytes that wait in the reader may still become a valid reply. Only a bulk string may be long, and
    /// the end of its first line is near the start. Any other line would be searched again with each slice.
    private var isPlausible: Bool {
        let pending = reader.pointee.len - reader.pointee.pos
        guard pending > longestLine, let buffer = reader.pointee.buf else { return true }
        let start = UnsafeRawBufferPointer(start: buffer + reader.pointee.pos, count: longestLength)
        let most = state.pointee.isOversized ? maximumReplyBytes : state.pointee.allowance
        return pending <= most && start.contains(UInt8(ascii: "\r"))
    }

    private var failure: RedisError {
        let reason = state.pointee.refusal ?? hiredisReason
        return RedisError(.protocolError, "Redis sent what we cannot read: \(reason)")
    }

    private var hiredisReason: String {
        withUnsafeBytes(of: reader.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

private let maximumSlice = 16 * 1024
private let longestLine = 64 * 1024
/// The length of a bulk string and its line end.
private let longestLength = 24
