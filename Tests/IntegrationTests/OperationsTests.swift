// Runs Tests/Operations: what operators do and the documentation says, by pytest in its own virtual environment.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("Operations")
struct OperationsTests {
    @Test("installation, services and the documented procedures work")
    func behaves() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../operations.sh").standardized.path
        let operations = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run downloads the packages.
        let code = try await operations.exitCode(within: .seconds(600))
        try await eventually("its output is read") { operations.outputEnded }
        #expect(code == 0, "\(operations.output)\(operations.errors)")
    }
}
