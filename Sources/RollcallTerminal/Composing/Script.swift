// A script contains what a user does at the keyboard, one action per line. Demos and tests play it. `docs/terminal.md`
// describes the words.

/// The content of a script.
package struct Script: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Types letter by letter.
        case type(String)
        /// Inserts everything at once.
        case paste(String)
        /// Erases this many characters, one by one; `nil` for the whole field, at once.
        case erase(Int?)
        case send
        case wait(Duration)
        /// Sets the time between two letters from here on.
        case pace(Duration)
        case background
        case foreground
        case idle
        /// Leaves the view of the conversation; `enter` returns to it.
        case leave
        case enter
    }

    package let steps: [Step]
    /// How often the script is played; `nil` for until it is interrupted.
    package let rounds: Int?

    package init(steps: [Step], rounds: Int? = 1) {
        self.steps = steps
        self.rounds = rounds
    }

    /// Types without end, in a field that is never empty and never full.
    package static let endless = Script(steps: [.type("still composing"), .erase(14)], rounds: nil)

    /// - Parameter duration: parses a duration such as `250ms`, `1s` or `2m`.
    /// - Throws: ``ScriptProblems``, which lists every problem of the script.
    package init(_ text: String, duration: @escaping (String) -> Duration?) throws(ScriptProblems) {
        var reader = ScriptReader(duration: duration)
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            reader.read(line.trimming(\.isWhitespace), number: number + 1)
        }
        self = try reader.script()
    }
}

/// All problems of a script.
package struct ScriptProblems: Error, Hashable {
    package struct Problem: Hashable, Sendable {
        /// The line number, from 1.
        package let line: Int
        /// What is wrong, and what to write instead.
        package let sentence: String
    }

    package let problems: [Problem]

    /// One line for each problem, in the `file:line: text` format that editors recognise.
    package func description(of file: String) -> String {
        problems.map { Shown.text("\(file):\($0.line): \($0.sentence)") }.joined(separator: "\n")
    }
}

extension StringProtocol {
    func trimming(_ isDropped: (Character) -> Bool) -> String {
        let start = drop(while: isDropped)
        return String(start.reversed().drop(while: isDropped).reversed())
    }
}
