// What hiredis's reader calls while it reads: functions of ours, in place of those that would build C objects. They
// are entered from C with a pointer to the decoder's state and nothing else; whatever a peer may send that we do not
// take ends here, before a decoder sees it.

import CHiredis

/// Builds replies out of the values that the reader finds, in the order of the bytes: an array before its elements.
///
/// Each method returns `false` for what cannot stand where it does.
protocol ReplyDecoder {
    associatedtype Reply

    /// The table of C functions that ends in this decoder, made by ``makeFunctions(string:array:integer:null:)``.
    static var functions: UnsafeMutablePointer<redisReplyObjectFunctions> { get }

    mutating func status(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func error(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func bulk(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func integer(_ number: Int64) -> Bool
    mutating func null() -> Bool
    mutating func array(count: Int) -> Bool

    /// The reply that the last value completed.
    mutating func takeReply() -> Reply

    /// Whether replies larger than the limit are read past; else they are errors.
    static var skipsOversized: Bool { get }
    /// What stands for a reply of which the decoder was told only the beginning.
    mutating func takeOversized() -> Reply
}

/// A decoder and what is watched around it; the reader's `privdata` points here.
struct DecoderState<Decoder: ReplyDecoder> {
    var decoder: Decoder
    /// What the reply may still cost.
    var allowance: Int
    /// How much more than it may cost is passed over at most.
    let mostSkipped: Int
    /// Whether the reply has cost more than it may, and the rest of it is passed over.
    var isOversized = false
    /// Why the last value was refused.
    var refusal: String?
}

extension ReplyDecoder {
    typealias Task = UnsafePointer<redisReadTask>?
    /// What hiredis takes as the object made; only whether it is null matters, since objects stay on our side.
    typealias Object = UnsafeMutableRawPointer?

    /// Makes the table that the reader calls. It lives as long as the process, and is filled by the names of its
    /// members, since hiredis 1.x has members between those of 0.14.
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
                // hiredis waits for the two bytes after a bulk string but does not look at them.
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

    /// How many arrays a value of an array's type opens, itself counted.
    private static func depth(of task: Task) -> Int {
        sequence(first: task) { $0?.pointee.parent.map { UnsafePointer($0) } }.reduce(0) { depth, _ in depth + 1 }
    }
}

/// How deep arrays may nest: as deep as hiredis 0.14 can, whichever version reads.
private let maximumDepth = 8
/// What a value costs besides its bytes.
private let valueCost = 32

extension DecoderState {
    fileprivate mutating func refuse(_ reason: String) -> Bool {
        refusal = reason
        return false
    }
}
