// Somebody else's client, written from the protocol's page: Python's `websockets`, from a venv of the test's own.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("A client that nobody here wrote")
struct InteropTests {
    @Test("speaks the protocol from its page alone")
    func speaksTheProtocol() async throws {
        let deployment = try await Deployment(workers: 2)
        let script = URL(fileURLWithPath: #filePath).appending(path: "../../interop.sh").standardized.path
        let interop = try ChildProcess(["sh", script] + deployment.workers.map(\.edge))
        // The first run fetches the package.
        let code = try await interop.exitCode(within: .seconds(120))
        try await eventually("what it said is read") { interop.outputEnded }
        #expect(code == 0, "\(interop.output)\(interop.errors)")
        #expect(interop.output.split(separator: "\n").count == 7, "\(interop.output)")
    }
}
