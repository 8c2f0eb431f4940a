// What views leave on the heap of an app, and what observed people cost it: measured in a process of its own, since the
// tests beside this one allocate too.

import Harness
import TestSupport
import Testing

@Suite("An app's memory")
struct MemoryTests {
    @Test("C3: views opened and closed leave nothing, and ten observed people cost well under five megabytes")
    func views() async throws {
        let views = try ChildProcess([RollcallProgram.path(of: "views"), "--rounds", "3000"])
        #expect(try await views.exitCode(within: .seconds(120)) == 0)
        try await eventually("its output is read") { views.outputEnded }
        let growth = views.output.split(separator: "\n").compactMap { Int($0.prefix { $0 != " " }) }
        try #require(growth.count == 3, "\(views.output)\(views.errors)")
        // A view of which anything stayed would leave more than a hundred bytes.
        #expect(growth[0] < 3000 * 100, "\(growth[0]) bytes after three thousand views")
        #expect(growth[1] < 1_000_000, "\(growth[1]) bytes for ten people")
        #expect(growth[2] < 10_000_000, "\(growth[2]) bytes for a thousand people")
    }
}
