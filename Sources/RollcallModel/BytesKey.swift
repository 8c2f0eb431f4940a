// A name as a key of a dictionary: compared as bytes, as Redis does, and made of borrowed bytes for a look into it, so
// that what comes from Redis finds its entry without a string being made of its name.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A name, owned or borrowed.
package struct BytesKey: Hashable {
    private enum Storage {
        case text(String)
        case borrowed(UnsafeRawBufferPointer)
    }

    private let storage: Storage

    package init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        storage = .text(text)
    }

    /// A key for looking up only, as long as the bytes are valid.
    package init(borrowing bytes: UnsafeRawBufferPointer) {
        storage = .borrowed(bytes)
    }

    /// The name of an owned key.
    package var text: String {
        switch storage {
        case .text(let text): text
        case .borrowed: preconditionFailure("a borrowed key is for looking up only")
        }
    }

    package static func == (left: BytesKey, right: BytesKey) -> Bool {
        left.withBytes { left in right.withBytes { left.isSame(as: $0) } }
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .borrowed(let bytes): return body(bytes)
        case .text(let text):
            let result = text.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
            guard let result else { preconditionFailure("BytesKey.init makes its text contiguous") }
            return result
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let own = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(own, others, count) == 0
    }
}
