// Splits the output of a child into lines.

import Foundation
import Spawning

/// Reads a pipe line by line, on a separate thread.
enum LineReader {
    static func read(_ pipe: Pipe, line: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void) {
        nonisolated(unsafe) var rest = Data()  // used only by the reading thread
        DescriptorReader.read(
            pipe.fileHandleForReading,
            bytes: { bytes in
                rest.append(bytes)
                while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest[..<newline], as: UTF8.self))
                    rest.removeSubrange(...newline)
                }
                return true
            },
            end: end)
    }
}
