// Runs Tests/Documents: compares the documents of the three protocols with real workers, by pytest, schemathesis and
// jsonschema in their own virtual environment.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("The protocol documents")
struct DocumentTests {
    /// Most of the time is spent on several hundred generated requests to the admin port.
    @Test("describe what workers do, and the admin port responds as documented to any request")
    func hold() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../documents.sh").standardized.path
        let documents = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run downloads the packages.
        let code = try await documents.exitCode(within: .seconds(600))
        try await eventually("its output is read") { documents.outputEnded }
        #expect(code == 0, "\(documents.output)\(documents.errors)")
    }
}
