// A key's name in its parts: what is needed by the thousand is written to its place without being put together before.

import NIOCore

/// A name that ends in its hash tag, `head{tag}`: in Redis Cluster the tag alone says which node has the key.
struct TaggedKey: Hashable {
    let head: String
    let tag: String

    var byteCount: Int { head.utf8.count + tag.utf8.count + 2 }

    var text: String {
        String(unsafeUninitializedCapacity: byteCount) { write(to: UnsafeMutableRawBufferPointer($0)) }
    }

    /// Writes it to memory that has room for it.
    ///
    /// - Returns: how many bytes it has.
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
    /// - Returns: where it ends.
    fileprivate func put(_ text: String, at start: Int) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            UnsafeMutableRawBufferPointer(rebasing: self[start...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
            return start + bytes.count
        }
    }
}
