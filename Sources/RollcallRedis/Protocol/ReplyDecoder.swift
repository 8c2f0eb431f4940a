// Callbacks for hiredis's reader, which replace those that would build C objects. C calls them with a pointer to the
// decoder's state and nothing else. Input that is not acceptable is rejected here, before a decoder sees it.

import CHiredis

/// Builds replies from the values that the reader finds, in the order of the bytes: an array precedes its elements.
///
/// Each method returns `false` for a value that is not allowed at its position.
protocol ReplyDecoder {
    associatedtype Reply

    /// The table of C functions that call this decoder; made with `makeFunctions(_:)`.
    static var functions: UnsafeMutablePointer<redisReplyObjectFunctions> { get }

    mutating func status(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func error(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func bulk(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func integer(_ number: Int64) -> Bool
    mutating func null() -> Bool
    mutating func array(count: Int) -> Bool

    /// Returns the reply that the last value completed.
    mutating func takeReply() -> Reply

    /// Whether replies larger than the limit are skipped. Otherwise they are errors.
    static var skipsOversized: Bool { get }
    /// Returns the replacement for a reply of which the decoder received only the beginning.
    mutating func takeOversized() -> Reply
}

/// A decoder and the limits around it; the reader's `privdata` points to it.
struct DecoderState<Decoder: ReplyDecoder> {
    var decoder: Decoder
    /// The remaining cost that the reply may have.
    var allowance: Int
    /// The most additional cost of a reply that is skipped.
    let mostSkipped: Int
    /// Whether the reply exceeded its cost limit, so that the rest is skipped.
    var isOversized = false
    /// Why the last value was rejected.
    var refusal: String?
}

extension ReplyDecoder {
    typealias Task = UnsafePointer<redisReadTask>?
    /// The object that hiredis receives. Only whether it is null matters, because the decoded objects stay in Swift.
    typealias Object = UnsafeMutableRawPointer?

    /// Creates the table that the reader calls. It is never freed. It is filled by member name, because hiredis 1.x has
    /// additional members between those of 0.14.
    static func makeFunctions(
        _ fill: (inout redisReplyObjectFunctions) -> Void
    ) -> UnsafeMutablePointer<redisReplyObjectFunctions> {
        var functions = redisReplyObjectFunctions()
        fill(&functions)
        chiredis_refuse_resp3(&functions)
        let table = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        table.initialize(to: functions)
        return table
    }

    static func createString(_ task: Task, _ text: UnsafeMutablePointer<CChar>?, _ count: Int) -> Object {
        create(task, cost: count) { state, type in
            let bytes = UnsafeRawBufferPointer(start: text, count: count)
            switch type {
            case REDIS_REPLY_STRING:
                // hiredis waits for the two bytes after a bulk string, but does not check them.
                guard text?[count] == 0x0D, text?[count + 1] == 0x0A else {
                    return state.refuse("a bulk string does not end where it says")
                }
                return state.decoder.bulk(bytes)
            case REDIS_REPLY_STATUS: return state.decoder.status(bytes)
            case REDIS_REPLY_ERROR: return state.decoder.error(bytes)
            default: return state.refuse("a value that only RESP3 has")
            }
        }
    }

    static func createArray(_ task: Task, _ count: Int) -> Object {
        create(task, cost: 0) { state, type in
            guard type == REDIS_REPLY_ARRAY else { return state.refuse("a value that only RESP3 has") }
            guard depth(of: task) <= maximumDepth else { return state.refuse("arrays nested too deep") }
            return state.decoder.array(count: count)
        }
    }

    static func createInteger(_ task: Task, _ number: Int64) -> Object {
        create(task, cost: 0) { state, _ in state.decoder.integer(number) }
    }

    static func createNull(_ task: Task) -> Object {
        create(task, cost: 0) { state, type in
            switch type {
            case REDIS_REPLY_STRING: return state.decoder.null()
            case REDIS_REPLY_ARRAY where depth(of: task) <= maximumDepth: return state.decoder.null()
            case REDIS_REPLY_ARRAY: return state.refuse("arrays nested too deep")
            default: return state.refuse("a value that only RESP3 has")
            }
        }
    }

    private static func create(
        _ task: Task, cost: Int, _ body: (inout DecoderState<Self>, _ type: Int32) -> Bool
    ) -> Object {
        guard let task, let privdata = task.pointee.privdata else { return nil }
        let state = privdata.assumingMemoryBound(to: DecoderState<Self>.self)
        state.pointee.allowance -= cost + valueCost
        guard state.pointee.allowance >= 0 else {
            let isSkipped = skipsOversized && state.pointee.allowance >= -state.pointee.mostSkipped
            state.pointee.isOversized = isSkipped
            return isSkipped || state.pointee.refuse("a reply larger than the limit") ? privdata : nil
        }
        return body(&state.pointee, task.pointee.type) ? privdata : nil
    }

    /// The nesting depth of arrays at a task of array type, including its own.
    private static func depth(of task: Task) -> Int {
        sequence(first: task) { $0?.pointee.parent.map { UnsafePointer($0) } }.reduce(0) { depth, _ in depth + 1 }
    }
}

/// The maximum nesting of arrays: that of hiredis 0.14, for all versions alike.
private let maximumDepth = 8
/// The cost of a value in addition to its bytes.
private let valueCost = 32

extension DecoderState {
    fileprivate mutating func refuse(_ reason: String) -> Bool {
        refusal = reason
        return false
    }
}
