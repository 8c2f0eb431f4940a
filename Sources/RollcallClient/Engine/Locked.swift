// The lock of whatever several threads use. It is our own, so that a client without NIO has one too.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value that any thread may read and change, one at a time. Costs one allocation. Copies share the value.
package struct Locked<Value> {
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { storage in
            _ = storage.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
            return value
        }
    }

    /// Runs `body` while no other thread does. It must not use this lock again.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
}

extension Locked: @unchecked Sendable where Value: Sendable {}
