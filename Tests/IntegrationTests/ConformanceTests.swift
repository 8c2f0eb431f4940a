// Runs wsproto's RFC 6455 test cases against a real worker.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("WebSocket conformance", .enabled(if: isSoaking))
struct ConformanceTests {
    // About 300 cases, each on a new connection.
    @Test("the edge conforms to RFC 6455, as tested with Python's wsproto")
    func conforms() async throws {
        let deployment = try await Deployment(workers: 1)
        let script = URL(fileURLWithPath: #filePath).appending(path: "../../conformance.sh").standardized.path
        let cases = try ChildProcess(["sh", script, deployment.workers[0].edge])
        // The first run downloads the packages.
        let code = try await cases.exitCode(within: .seconds(120))
        try await eventually("its output is read") { cases.outputEnded }
        #expect(code == 0, "\(cases.output)\(cases.errors)")
        #expect(cases.output.contains("cases are as they should be"))
    }
}
