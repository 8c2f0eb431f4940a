// Results go to standard output, a line at a time and at once; everything else to standard error.

import Foundation
import RollcallTerminal

/// The two streams that a command writes to.
enum Output {
    /// Writes a result.
    ///
    /// - Throws: where nobody reads any more, such as a terminal that went away.
    static func line(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a value as one line of JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try line(Shown.json(String(decoding: encoder.encode(value), as: UTF8.self)))
    }

    /// Writes bytes as they are.
    static func raw(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Writes a note for the person at the terminal.
    static func log(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
