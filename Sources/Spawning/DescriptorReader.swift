// Reads the output of another process. On Linux, Foundation's `readabilityHandler` is not called if the stream ends
// together with the last bytes, and `availableData` crashes the process when a signal interrupts it.

package import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Reads descriptors to their end, each on its own thread.
package enum DescriptorReader {
    /// - Parameters:
    ///   - handle: Kept open until its end was read.
    ///   - bytes: Called with the bytes, in order. Return `false` to stop reading.
    ///   - end: Called once, after all bytes.
    package static func read(
        _ handle: FileHandle, bytes: @escaping @Sendable (Data) -> Bool, end: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                #if canImport(Darwin)
                    let count = Darwin.read(handle.fileDescriptor, &buffer, buffer.count)
                #else
                    let count = Glibc.read(handle.fileDescriptor, &buffer, buffer.count)
                #endif
                if count < 0, errno == EINTR { continue }
                guard count > 0, bytes(Data(buffer.prefix(count))) else { break }
            }
            end()
        }
    }
}
