// Finds the replies in the bytes of a connection, however they arrive. hiredis parses, and owns no socket: bytes come
// from NIO, and each value that it finds is appended to a flat reply, whose memory is reused.

import CHiredis
import NIOCore

/// Turns the bytes of one connection into replies. It cannot be used after an error.
final class RESPReader {
    private let reader: UnsafeMutablePointer<redisReader>
    /// Behind a pointer, because C holds its address.
    private let state: UnsafeMutablePointer<State>

    /// - Parameter maximumReplyBytes: the size limit of one reply; each value counts 32 bytes extra.
    init(maximumReplyBytes: Int) {
        guard let reader = redisReaderCreateWithFunctions(functions) else { preconditionFailure("out of memory") }
        self.reader = reader
        state = .allocate(capacity: 1)
        state.initialize(to: State(limit: maximumReplyBytes))
        reader.pointee.privdata = UnsafeMutableRawPointer(state)
    }

    deinit {
        redisReaderFree(reader)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Reads these bytes and passes on each reply that they complete. A reply's bytes are copied only if the callee
    /// keeps it beyond the next one.
    ///
    /// - Parameter take: returns whether to continue; `false` if the connection is gone, so that the rest is discarded.
    /// - Returns: why the bytes violate the protocol or the limit; `nil` if they do not.
    func feed(_ bytes: ByteBuffer, _ take: (RESPReply) -> Bool) -> RedisError? {
        bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                // The reader moves its unread bytes to the front after each kilobyte. With large slices, the cost would
                // be quadratic.
                let slice = UnsafeRawBufferPointer(rebasing: rest.prefix(16 * 1024))
                rest = rest.dropFirst(slice.count)
                redisReaderFeed(reader, slice.bindMemory(to: CChar.self).baseAddress, slice.count)
                while true {
                    var object: UnsafeMutableRawPointer?
                    guard redisReaderGetReply(reader, &object) == REDIS_OK else { return failure }
                    guard object != nil else { break }
                    guard take(state.pointee.takeReply()) else { return nil }
                }
                if reader.pointee.len - reader.pointee.pos > state.pointee.limit { return Self.tooLarge }
            }
            return nil
        }
    }

    private static let tooLarge = RedisError(.protocolError, "Redis sent a reply larger than the limit")

    private var failure: RedisError {
        if state.pointee.isTooLarge { return Self.tooLarge }
        let reason = withUnsafeBytes(of: reader.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        return RedisError(.protocolError, "Redis sent what we cannot read: \(reason)")
    }
}

/// The reply under construction; the reader's `privdata` points to it.
private struct State {
    let limit: Int
    /// The size of the reply so far.
    private var size = 0
    private var reply = RESPReply()
    /// Whether the reply was taken, so that the next value starts a new one.
    private var isTaken = false

    init(limit: Int) { self.limit = limit }

    var isTooLarge: Bool { size > limit }

    mutating func takeReply() -> RESPReply {
        isTaken = true
        return reply
    }

    mutating func add(_ kind: RESPReply.Kind, _ number: Int64, _ bytes: UnsafeRawBufferPointer?) -> Bool {
        if isTaken {
            (isTaken, size) = (false, 0)
            reply.clear()
        }
        size += 32 + (bytes?.count ?? 0)
        guard !isTooLarge else { return false }
        reply.add(kind, number, bytes)
        return true
    }
}

// MARK: Callbacks

private typealias Task = UnsafePointer<redisReadTask>?
/// Only whether it is null matters to hiredis, because the values stay in Swift.
private typealias Object = UnsafeMutableRawPointer?

/// The functions that hiredis calls, instead of those that would build C objects. Filled by member name, because
/// hiredis 1.x has further members. Never freed.
nonisolated(unsafe) private let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
    let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    functions.initialize(to: redisReplyObjectFunctions())
    functions.pointee.createString = { text(of: $0, UnsafeRawBufferPointer(start: $1, count: Int($2))) }
    functions.pointee.createArray = { array(of: $0, Int64($1)) }
    functions.pointee.createInteger = { add(.integer, Int64($1), to: $0) }
    functions.pointee.createNil = { $0?.pointee.type == REDIS_REPLY_ARRAY ? array(of: $0, -1) : add(.null, to: $0) }
    chiredis_refuse_resp3(functions)
    return functions
}()

private func text(of task: Task, _ bytes: UnsafeRawBufferPointer) -> Object {
    switch task?.pointee.type {
    case REDIS_REPLY_STRING: add(.bulk, Int64(bytes.count), bytes, to: task)
    case REDIS_REPLY_STATUS: add(.status, Int64(bytes.count), bytes, to: task)
    case REDIS_REPLY_ERROR: add(.error, Int64(bytes.count), bytes, to: task)
    default: nil  // a value that only RESP3 has
    }
}

/// Arrays may be nested as deep as hiredis 0.14 allows, and no deeper with later versions.
private func array(of task: Task, _ count: Int64) -> Object {
    let depth = sequence(first: task) { $0?.pointee.parent.map { UnsafePointer($0) } }.reduce(0) { depth, _ in depth + 1
    }
    guard task?.pointee.type == REDIS_REPLY_ARRAY, depth <= 8 else { return nil }
    return count < 0 ? add(.null, to: task) : add(.array, count, to: task)
}

private func add(
    _ kind: RESPReply.Kind, _ number: Int64 = 0, _ bytes: UnsafeRawBufferPointer? = nil, to task: Task
) -> Object {
    guard let privdata = task?.pointee.privdata else { return nil }
    return privdata.assumingMemoryBound(to: State.self).pointee.add(kind, number, bytes) ? privdata : nil
}
