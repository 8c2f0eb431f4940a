// The command line in front of a person: Tests/Terminal, by pytest on a pseudo terminal, from a venv of its own.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("On a terminal")
struct TerminalTests {
    @Test("watch and type show what happens, and leave the terminal as they found it")
    func behaves() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../terminal.sh").standardized.path
        let terminal = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run fetches the packages.
        let code = try await terminal.exitCode(within: .seconds(600))
        try await eventually("what it said is read") { terminal.outputEnded }
        #expect(code == 0, "\(terminal.output)\(terminal.errors)")
    }
}
