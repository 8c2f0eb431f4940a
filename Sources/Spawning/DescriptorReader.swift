// Reading what another process writes. Foundation's `readabilityHandler` is not told on Linux of an end that comes
// together with the last bytes, and its `availableData` ends the process when a signal interrupts it.

package import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Reads descriptors to their end, each on a thread of its own.
package enum DescriptorReader {
    /// - Parameters:
    ///   - handle: kept open until its end has been read.
    ///   - bytes: called with what has come, in order; `false` gives up the rest.
    ///   - end: called once, after all bytes.
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
