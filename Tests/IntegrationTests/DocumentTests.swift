// The documents of the three protocols, held to real workers by Tests/Documents: pytest, schemathesis and jsonschema, from
// a venv of their own.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("The documents of the protocols")
struct DocumentTests {
    /// Most of its time is the attack on the admin port, of some hundreds of requests.
    @Test("say what workers do, and the admin port does nothing else, whatever it is sent")
    func hold() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../documents.sh").standardized.path
        let documents = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run fetches the packages.
        let code = try await documents.exitCode(within: .seconds(600))
        try await eventually("what it said is read") { documents.outputEnded }
        #expect(code == 0, "\(documents.output)\(documents.errors)")
    }
}
