// What an operator does, and what the documentation tells them to: Tests/Operations, by pytest, from a venv of its own.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("In an operator's hands")
struct OperationsTests {
    @Test("it is installed, runs as a service, and does what its documentation says")
    func behaves() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../operations.sh").standardized.path
        let operations = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run fetches the packages.
        let code = try await operations.exitCode(within: .seconds(600))
        try await eventually("what it said is read") { operations.outputEnded }
        #expect(code == 0, "\(operations.output)\(operations.errors)")
    }
}
