// Runs Tests/Terminal: the command line on a pseudo terminal, by pytest in its own virtual environment.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("On a terminal")
struct TerminalTests {
    @Test("watch and type show what happens, and restore the terminal")
    func behaves() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../terminal.sh").standardized.path
        let terminal = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run downloads the packages.
        let code = try await terminal.exitCode(within: .seconds(600))
        try await eventually("its output is read") { terminal.outputEnded }
        #expect(code == 0, "\(terminal.output)\(terminal.errors)")
    }
}
