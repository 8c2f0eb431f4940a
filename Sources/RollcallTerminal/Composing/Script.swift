// A script is what a person does at the keyboard, written down: one thing a line. Demos and tests play it.
// `docs/terminal.md` has the words.

/// What a script says, line by line.
package struct Script: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Letter by letter.
        case type(String)
        /// At once.
        case paste(String)
        /// So many characters, one by one; `nil`: the whole field, at once.
        case erase(Int?)
        case send
        case wait(Duration)
        /// Between two letters from now on.
        case pace(Duration)
        case background
        case foreground
        case idle
        /// Out of the conversation's view, and back.
        case leave
        case enter
    }

    package let steps: [Step]
    /// How often all of it is done; `nil`: until it is interrupted.
    package let rounds: Int?

    package init(steps: [Step], rounds: Int? = 1) {
        self.steps = steps
        self.rounds = rounds
    }

    /// Somebody who types without an end, at a field that is never empty and never full.
    package static let endless = Script(steps: [.type("still composing"), .erase(14)], rounds: nil)

    /// - Parameter duration: reads `250ms`, `1s`, `2m`.
    /// - Throws: ``ScriptProblems`` with every problem of the script at once.
    package init(_ text: String, duration: @escaping (String) -> Duration?) throws(ScriptProblems) {
        var reader = ScriptReader(duration: duration)
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            reader.read(line.trimming(\.isWhitespace), number: number + 1)
        }
        self = try reader.script()
    }
}

/// What is wrong with a script, all of it.
package struct ScriptProblems: Error, Hashable {
    package struct Problem: Hashable, Sendable {
        /// Counted from 1.
        package let line: Int
        /// What is wrong, and what to write instead.
        package let sentence: String
    }

    package let problems: [Problem]

    /// A line for each problem, in the form that editors jump by.
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
