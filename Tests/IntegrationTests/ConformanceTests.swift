// RFC 6455, asked of a real worker by Python's wsproto.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("The WebSocket")
struct ConformanceTests {
    // Some three hundred cases, each on a connection of its own.
    @Test("keeps to RFC 6455, as somebody else reads it")
    func conforms() async throws {
        let deployment = try await Deployment(workers: 1)
        let script = URL(fileURLWithPath: #filePath).appending(path: "../../conformance.sh").standardized.path
        let cases = try ChildProcess(["sh", script, deployment.workers[0].edge])
        // The first run fetches the packages.
        let code = try await cases.exitCode(within: .seconds(120))
        try await eventually("what it said is read") { cases.outputEnded }
        #expect(code == 0, "\(cases.output)\(cases.errors)")
        #expect(cases.output.contains("cases are as they should be"))
    }
}
