import NIOCore

extension ByteBuffer {
    /// Empties the buffer and keeps its memory for the next use, unless it has grown past `limit`.
    mutating func clear(atMost limit: Int) {
        if capacity > limit {
            self = ByteBuffer()
        } else {
            clear()
        }
    }
}
