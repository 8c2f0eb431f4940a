// The arrays and objects that are open at a position of a text, one bit each. 64 levels fit into a word; only deeper
// texts cost an allocation.

/// A stack of arrays and objects.
struct OpenContainers {
    enum Kind {
        case array, object
    }

    private(set) var count = 0
    /// The innermost containers, the last one in the lowest bit. 1 means an object.
    private var word: UInt64 = 0
    /// The outer containers, 64 in each word.
    private var words: [UInt64] = []

    var isEmpty: Bool { count == 0 }

    var last: Kind? {
        isEmpty ? nil : word & 1 == 1 ? .object : .array
    }

    mutating func append(_ kind: Kind) {
        if count > 0, count.isMultiple(of: 64) { words.append(word) }
        word = word << 1 | (kind == .object ? 1 : 0)
        count += 1
    }

    mutating func removeLast() {
        word >>= 1
        count -= 1
        if count > 0, count.isMultiple(of: 64) { word = words.removeLast() }
    }
}
