// Checks that the benchmarks still work: `make bench` takes half an hour on a quiet machine, so it runs rarely.

#if os(Linux)
    import Foundation
    import Harness
    import TestSupport
    import Testing

    @Suite("The benchmarks")
    struct BenchTests {
        /// What `--json` writes for a workload.
        private struct Row: Decodable {
            struct Sample: Decodable {
                var value: Double
                var details: [String: Double]
            }

            var name: String
            var floor: [Sample]
            var rollcall: [Sample]
        }

        @Test("each workload runs on workers and on its floor, and each round of both is recorded")
        func trial() async throws {
            let (rows, table) = try await trial([], of: Row.self)
            #expect(Set(rows.map(\.name)).count == 16)
            // The connection storm and the large room have no floor: their targets are absolute.
            #expect(rows.filter { $0.floor.isEmpty }.count == 2)
            for row in rows {
                #expect(row.rollcall.count == 2 && [0, 2].contains(row.floor.count), "\(row.name)")
            }
            let latencies = rows.filter { $0.name.contains("p50") }.flatMap { $0.rollcall + $0.floor }
            #expect(latencies.count == 8 && latencies.allSatisfy { $0.value > 0 && $0.details["p99"] ?? 0 >= $0.value })
            #expect(table.count == 2 + rows.count)
        }

        /// What `--growth --json` writes for one growing quantity.
        private struct Growth: Decodable {
            struct Step: Decodable {
                var size: Int
                var samples: [Row.Sample]
            }

            var of: String
            var steps: [Step]
        }

        @Test("growth is measured at increasing sizes")
        func growth() async throws {
            let (rows, table) = try await trial(["--growth", "--only", "people|signals"], of: Growth.self)
            #expect(
                rows.map(\.of) == ["people in a room", "workers, two of a room's people on each", "signals a second"])
            for row in rows {
                #expect(row.steps.allSatisfy { $0.samples.count == 2 }, "\(row.of)")
                #expect(row.steps.map(\.size) == row.steps.map(\.size).sorted(), "\(row.of)")
            }
            #expect(table.count == 2 + rows.count)
        }

        /// - Returns: what is written as JSON, and the lines of the table.
        private func trial<Rows: Decodable>(
            _ arguments: [String], of: Rows.Type
        ) async throws -> ([Rows], table: [Substring]) {
            let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            let bench = try ChildProcess(
                [RollcallProgram.path(of: "bench"), "--trial", "--rounds", "2", "--json", file.path] + arguments)
            #expect(try await bench.exitCode(within: .seconds(180)) == 0, "\(bench.errors)")
            try await eventually("the table is read") { bench.outputEnded }
            return (
                try JSONDecoder().decode([Rows].self, from: Data(contentsOf: file)),
                bench.output.split(separator: "\n")
            )
        }
    }
#endif
