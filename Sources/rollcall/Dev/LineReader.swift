// What a child prints, cut into lines.

import Foundation
import Spawning

/// Reads a pipe line by line, on a thread of its own.
enum LineReader {
    static func read(_ pipe: Pipe, line: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void) {
        nonisolated(unsafe) var rest = Data()  // touched by the reading thread alone
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
