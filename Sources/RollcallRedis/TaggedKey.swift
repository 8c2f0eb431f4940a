// A key name in parts, so that bulk commands write it without building a string first.

import NIOCore

/// A name that ends in its hash tag: `head{tag}`. In Redis Cluster, the tag alone determines the slot.
struct TaggedKey: Hashable {
    let head: String
    let tag: String

    var byteCount: Int { head.utf8.count + tag.utf8.count + 2 }

    var text: String {
        String(unsafeUninitializedCapacity: byteCount) { write(to: UnsafeMutableRawBufferPointer($0)) }
    }

    /// Writes the name to memory that has room for it.
    ///
    /// - Returns: the number of bytes written.
    @discardableResult
    func write(to memory: UnsafeMutableRawBufferPointer) -> Int {
        var end = memory.put(head, at: 0)
        memory[end] = UInt8(ascii: "{")
        end = memory.put(tag, at: end + 1)
        memory[end] = UInt8(ascii: "}")
        return end + 1
    }
}

extension UnsafeMutableRawBufferPointer {
    /// - Returns: the index after the text.
    fileprivate func put(_ text: String, at start: Int) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            UnsafeMutableRawBufferPointer(rebasing: self[start...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
            return start + bytes.count
        }
    }
}
