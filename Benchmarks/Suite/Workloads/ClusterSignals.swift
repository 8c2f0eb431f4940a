// Typing signals through a cluster. The cost of one must not grow with the number of primaries; then more primaries
// carry more signals. The floor is `redis-benchmark`, which calls the same script on a cluster of the same size.

import Foundation
import Harness
import RollcallLoad
import RollcallRedis
import TestSupport

/// What a signal costs all primaries together, with users in many rooms on two workers.
struct ClusterSignals: TargetedWorkload {
    /// Options of `redis-benchmark`: as many calls are in flight as with ``Signals``.
    private static let (connections, pipeline) = (50, 16)

    let primaries: Int
    let count: Int
    var name: String { "signals through a cluster of \(primaries): CPU of Redis, each" }
    let unit = "µs"
    let target = Target.ratio(1.5)

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let set = try await RedisClusterSet(primaries: primaries)
        switch side {
        case .floor: return try await Pipeline(set, count: count)
        case .rollcall: return try await Typists(set, count: count)
        }
    }

    /// One `redis-benchmark` for each primary, in a room that is stored there.
    private struct Pipeline: Measurable {
        let set: RedisClusterSet
        let count: Int
        private let script: String
        /// One room for each primary.
        private var rooms: [String] = []

        init(_ set: RedisClusterSet, count: Int) async throws {
            (self.set, self.count) = (set, count)
            guard let source = Script.all.first(where: { $0.name == "typing_signal" })?.sharded.source else {
                throw BenchFailure("there is no script of that name")
            }
            var digest = ""
            for server in set.servers {
                digest = try await server.cli("SCRIPT", "LOAD", source)
                var number = 0
                while try await set.primary(of: "{room\(number)}") !== server { number += 1 }
                rooms.append("{room\(number)}")
            }
            script = digest
        }

        func measure() async throws -> Sample {
            // Far in the future: the script limits it.
            let expiry = Int(Date.now.timeIntervalSince1970 * 1_000) + 3_600_000
            let (start, before, parts) = (now(), set.costs, set.servers.count)
            let benchmarks = try zip(set.servers, rooms).map { server, room in
                try ChildProcess([
                    "redis-benchmark", "-p", "\(server.port)", "-q", "-n", "\(count / parts)",
                    "-c", "\(ClusterSignals.connections / parts)", "-P", "\(ClusterSignals.pipeline)",
                    "EVALSHA", script, "3", "typing:\(room):user", "typing:\(room)", "members:\(room)",
                    "user", "phone", "\(expiry)", "3000", "open",
                ])
            }
            for benchmark in benchmarks {
                guard try await benchmark.exitCode(within: .seconds(120)) == 0 else {
                    throw BenchFailure("redis-benchmark says \(benchmark.output)\(benchmark.errors)")
                }
            }
            return Sample(count, in: now() - start, each: set.costs - before)
        }
    }

    private struct Typists: Measurable {
        let set: RedisClusterSet
        let count: Int
        private let workers: [WorkerProcess]
        private let typists: Typing

        init(_ set: RedisClusterSet, count: Int) async throws {
            (self.set, self.count) = (set, count)
            var workers: [WorkerProcess] = []
            for number in 1...2 {
                workers.append(try await WorkerProcess("w\(number)", redis: set.url, settings: Stand.unbounded))
            }
            self.workers = workers
            typists = try Typing(at: workers.map { try Crowd.Address(port: $0.port) }, rooms: 200)
        }

        func measure() throws -> Sample {
            let (start, before, own) = (now(), set.costs, workers.map { Cost(of: $0.process.pid) })
            try typists.signal(count)
            var sample = Sample(count, in: now() - start, each: set.costs - before)
            let spent = zip(workers, own).map { (Cost(of: $0.process.pid) - $1).seconds }.reduce(0, +)
            sample.details["workers, µs"] = spent / Double(count) * 1e6
            return sample
        }
    }
}

extension RedisClusterSet {
    /// The cost of each primary so far.
    fileprivate var costs: [Cost] { servers.map { Cost(of: $0.process.pid) } }
}

private func - (left: [Cost], right: [Cost]) -> [Cost] { zip(left, right).map { $0 - $1 } }

extension Sample {
    /// - Parameter costs: the cost of each primary.
    fileprivate init(_ count: Int, in seconds: Double, each costs: [Cost]) {
        let spent = costs.map(\.seconds)
        let all = spent.reduce(0, +)
        self.init(
            value: all / Double(count) * 1e6,
            details: [
                "signals a second": Double(count) / seconds,
                // With very few signals, Linux may count no processor time.
                "the busiest primary's part": (spent.max() ?? 0) / max(all, 1e-9),
            ])
    }
}
