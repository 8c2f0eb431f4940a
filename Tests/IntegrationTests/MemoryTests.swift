// The memory that views leave behind in an application, and that observed users need. Measured in a separate process,
// since other tests allocate memory too.

import Harness
import TestSupport
import Testing

@Suite("The memory of an application")
struct MemoryTests {
    @Test("views opened and closed leave nothing, and ten observed users need far less than five megabytes")
    func views() async throws {
        let views = try ChildProcess([RollcallProgram.path(of: "views"), "--rounds", "3000"])
        #expect(try await views.exitCode(within: .seconds(120)) == 0)
        try await eventually("its output is read") { views.outputEnded }
        let growth = views.output.split(separator: "\n").compactMap { Int($0.prefix { $0 != " " }) }
        try #require(growth.count == 3, "\(views.output)\(views.errors)")
        // If anything stayed of each view, it would be more than 100 bytes.
        #expect(growth[0] < 3000 * 100, "\(growth[0]) bytes after three thousand views")
        #expect(growth[1] < 1_000_000, "\(growth[1]) bytes for ten people")
        #expect(growth[2] < 10_000_000, "\(growth[2]) bytes for a thousand people")
    }
}
