// `make bench` takes half an hour of a quiet machine, so nobody sees by chance that it no longer works.

#if os(Linux)
    import Foundation
    import Harness
    import TestSupport
    import Testing

    @Suite("The benchmarks")
    struct BenchTests {
        /// What `--json` writes of a workload.
        private struct Row: Decodable {
            struct Sample: Decodable {
                var value: Double
                var details: [String: Double]
            }

            var name: String
            var floor: [Sample]
            var rollcall: [Sample]
        }

        @Test("each workload is played on workers and on its floor, and each round of both is written down")
        func trial() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            let bench = try ChildProcess([
                RollcallProgram.path(of: "bench"), "--trial", "--rounds", "2", "--json", file.path,
            ])
            #expect(try await bench.exitCode(within: .seconds(180)) == 0, "\(bench.errors)")
            let rows = try JSONDecoder().decode([Row].self, from: Data(contentsOf: file))
            #expect(Set(rows.map(\.name)).count == 13)
            // The floors of a storm and of a large room are none: their targets are absolute.
            #expect(rows.filter { $0.floor.isEmpty }.count == 2)
            for row in rows {
                #expect(row.rollcall.count == 2 && [0, 2].contains(row.floor.count), "\(row.name)")
            }
            let latencies = rows.filter { $0.name.contains("p50") }.flatMap { $0.rollcall + $0.floor }
            #expect(latencies.count == 8 && latencies.allSatisfy { $0.value > 0 && $0.details["p99"] ?? 0 >= $0.value })
            try await eventually("the table is read") { bench.outputEnded }
            #expect(bench.output.split(separator: "\n").count == 2 + rows.count)
        }
    }
#endif
