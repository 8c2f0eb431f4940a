// A name as a dictionary key, compared by bytes, as in Redis. A lookup can use borrowed bytes, so names from Redis are
// found without creating a string.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A name as owned text or as borrowed bytes.
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

    /// Creates a key for lookups only, valid as long as the bytes are.
    package init(borrowing bytes: UnsafeRawBufferPointer) {
        storage = .borrowed(bytes)
    }

    /// The name. Stops the program for a borrowed key.
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
