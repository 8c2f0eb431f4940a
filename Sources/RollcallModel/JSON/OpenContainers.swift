// Which arrays and objects are open at a place in a text, in a bit each: a word is enough for all but very strange texts,
// and only those cost an allocation.

/// A stack of arrays and objects.
struct OpenContainers {
    enum Kind {
        case array, object
    }

    private(set) var count = 0
    /// The innermost, of which the last is the lowest bit; an object is a 1.
    private var word: UInt64 = 0
    /// Those further out, 64 in each.
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
