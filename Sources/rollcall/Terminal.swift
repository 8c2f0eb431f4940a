// What reaches a terminal. Names are untrusted text, and a terminal executes what it is sent: an escape sequence in a name
// could clear the screen, change the window title or type a command. So all text passes through `Shown`.

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

/// Makes untrusted text harmless to a terminal.
enum Shown {
    /// Returns the text with control characters replaced by pictures: `␛` for escape, `␊` for a line feed. Characters
    /// that change the direction of text become the replacement character U+FFFD.
    static func text(_ text: String) -> String {
        replacing(controls, in: text)
    }

    /// Like ``text(_:)``, for our own sentences. Their names passed through ``name(_:)`` and may be in isolates.
    static func sentence(_ text: String) -> String {
        replacing({ controls($0) && !isolates($0) }, in: text)
    }

    private static func replacing(_ isBad: (Unicode.Scalar) -> Bool, in text: String) -> String {
        guard text.unicodeScalars.contains(where: isBad) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isBad(scalar) ? picture(of: scalar) : scalar) }
        return String(shown)
    }

    /// U+2068 and U+2069, which isolate the direction of a name from the text around it.
    private static func isolates(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{2068}" || scalar == "\u{2069}" }

    /// Returns a name like ``text(_:)``, on one line and without characters that change the direction of text; `nil` if
    /// nothing of it is visible.
    static func name(_ name: String) -> String? {
        let kept = name.unicodeScalars.filter { !$0.properties.isBidiControl }
        let words = kept.split { $0.properties.isWhitespace && !controls($0) }.map { String($0) }
        let shown = text(words.joined(separator: " "))
        return shown.unicodeScalars.contains { !$0.properties.isDefaultIgnorableCodePoint } ? shown : nil
    }

    /// Returns a JSON document without raw control characters. JSON requires that only for those of ASCII, but
    /// terminals also execute others.
    static func json(_ document: String) -> String {
        guard document.unicodeScalars.contains(where: controls) else { return document }
        return document.unicodeScalars.reduce(into: "") { text, scalar in
            if controls(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func controls(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }

    /// Unicode has pictures for the ASCII control characters. The others become U+FFFD, for example U+009B, which
    /// starts an escape sequence in terminals.
    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
        case 0x7F: "\u{2421}"
        default: "\u{FFFD}"
        }
    }
}

/// Tables whose columns are as wide as their widest cell.
enum Columns {
    /// Cells are untrusted text, and are made harmless.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map { Shown.text($0) } }
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
