// Replies to commands: trees, most of them of one leaf.

import CHiredis

/// Builds each reply as one ``RedisValue``.
struct TreeDecoder: ReplyDecoder {
    /// An array whose elements have not all come.
    private struct OpenArray {
        var elements: [RedisValue] = []
        var missing: Int
    }

    private var open: [OpenArray] = []
    private var finished: RedisValue?

    nonisolated(unsafe) static let functions = makeFunctions {
        $0.createString = { TreeDecoder.createString($0, $1, $2) }
        $0.createArray = { TreeDecoder.createArray($0, Int($1)) }
        $0.createInteger = { TreeDecoder.createInteger($0, Int64($1)) }
        $0.createNil = { TreeDecoder.createNull($0) }
    }

    mutating func status(_ bytes: UnsafeRawBufferPointer) -> Bool {
        add(.status(String(decoding: bytes, as: UTF8.self)))
    }

    mutating func error(_ bytes: UnsafeRawBufferPointer) -> Bool {
        add(.error(RedisServerError(String(decoding: bytes, as: UTF8.self))))
    }

    mutating func bulk(_ bytes: UnsafeRawBufferPointer) -> Bool {
        add(.bulk([UInt8](bytes)))
    }

    mutating func integer(_ number: Int64) -> Bool {
        add(.integer(number))
    }

    mutating func null() -> Bool {
        add(.null)
    }

    mutating func array(count: Int) -> Bool {
        guard count > 0 else { return add(.array([])) }
        var array = OpenArray(missing: count)
        // The count is only a claim until the elements are there.
        array.elements.reserveCapacity(min(count, 256))
        open.append(array)
        return true
    }

    mutating func takeReply() -> RedisValue {
        guard let reply = finished.take() else { preconditionFailure("no value has been completed") }
        return reply
    }

    /// A value is whole; it may have been the last of its array, and that the last of the next.
    private mutating func add(_ value: RedisValue) -> Bool {
        var value = value
        while !open.isEmpty {
            let last = open.count - 1
            open[last].elements.append(value)
            open[last].missing -= 1
            guard open[last].missing == 0 else { return true }
            value = .array(open.removeLast().elements)
        }
        finished = value
        return true
    }
}
