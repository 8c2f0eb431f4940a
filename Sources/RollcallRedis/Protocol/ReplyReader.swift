// hiredis's reader, which knows where a reply ends, however the bytes arrive. It owns no socket: bytes go in as NIO
// read them, replies come out as a decoder of ours built them.

import CHiredis
import NIOCore

/// Turns the bytes of one connection into replies. After an error it is of no further use.
final class ReplyReader<Decoder: ReplyDecoder> {
    private let reader: UnsafeMutablePointer<redisReader>
    /// Behind a pointer, since C holds its address.
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

    /// Reads on with these bytes and hands over each reply that they complete.
    ///
    /// - Parameter take: returns whether to go on: `false` if the connection is gone, and the rest is nobody's.
    /// - Returns: why the bytes are not the protocol's, or more than we take; `nil` if all is well.
    func feed(_ bytes: ByteBuffer, _ take: (Decoder.Reply) -> Bool) -> RedisError? {
        bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                // The reader moves what is left to the front after each kilobyte read: with large slices that is
                // quadratic.
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

    /// Whether what waits in the reader for its end may still become a reply. Only a bulk string may be long, and
    /// that has the end of its first line near; any other line is searched anew with each slice.
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
/// The length of a bulk string and the end of that line.
private let longestLength = 24
