// What a child prints, cut into lines.

import Foundation

/// Reads a pipe on a thread of its own. Foundation's `readabilityHandler` would not do: on Linux it is not told of the
/// end when the last bytes come together with it.
enum LineReader {
    static func read(_ pipe: Pipe, line: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void) {
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let bytes = handle.availableData, !bytes.isEmpty {
                rest.append(bytes)
                while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest[..<newline], as: UTF8.self))
                    rest.removeSubrange(...newline)
                }
            }
            end()
        }
    }
}
