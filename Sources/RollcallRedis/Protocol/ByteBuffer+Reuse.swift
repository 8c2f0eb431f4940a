import NIOCore

extension ByteBuffer {
    /// Empties the buffer. Keeps its memory for the next use, unless its capacity exceeds `limit`.
    mutating func clear(atMost limit: Int) {
        if capacity > limit {
            self = ByteBuffer()
        } else {
            clear()
        }
    }
}
