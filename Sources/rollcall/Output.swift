// Results go to standard output, line by line and unbuffered; everything else goes to standard error.

import Foundation

/// The two streams that a command writes to.
enum Output {
    /// Writes a line to standard output.
    ///
    /// - Throws: if the output is closed, for example because the terminal is gone.
    static func line(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a value as one line of JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try line(Shown.json(String(decoding: encoder.encode(value), as: UTF8.self)))
    }

    /// Writes a note to standard error. Errors are ignored.
    static func log(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
