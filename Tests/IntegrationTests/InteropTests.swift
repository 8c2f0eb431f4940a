// An independent client, written from the protocol page: Python's `websockets`, in its own virtual environment.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("An independent client")
struct InteropTests {
    @Test("works with nothing but the protocol page")
    func speaksTheProtocol() async throws {
        let deployment = try await Deployment(workers: 2)
        let script = URL(fileURLWithPath: #filePath).appending(path: "../../interop.sh").standardized.path
        let interop = try ChildProcess(["sh", script] + deployment.workers.map(\.edge))
        // The first run downloads the package.
        let code = try await interop.exitCode(within: .seconds(120))
        try await eventually("its output is read") { interop.outputEnded }
        #expect(code == 0, "\(interop.output)\(interop.errors)")
        #expect(interop.output.split(separator: "\n").count == 7, "\(interop.output)")
    }
}
