// A run of the suite: what it plays, what it plays again, and where it goes on.

import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import FaultSuite

@Suite("A run of faults")
struct RunnerTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString).json")
    private let job = Job(.goodbye, .short)

    @Test("plays as many rounds as are asked for, and none that an earlier run played")
    func resumes() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let played = NIOLockedValueBox(0)
        for (rounds, total) in [(2, 2), (2, 2), (5, 5)] {
            let runner = runner(rounds: rounds, file: file) { played.withLockedValue { $0 += 1 } }
            let rows = try await runner.run(width: 3)
            #expect(rows.map(\.rounds.count) == [total])
            #expect(played.withLockedValue { $0 } == total)
        }
    }

    @Test("plays everything again for another build, and for who wants it so")
    func beginsAnew() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let played = NIOLockedValueBox(0)
        let count: @Sendable () -> Void = { played.withLockedValue { $0 += 1 } }
        _ = try await runner(rounds: 1, file: file, play: count).run(width: 1)
        _ = try await runner(rounds: 1, file: file, build: "another", play: count).run(width: 1)
        #expect(played.withLockedValue { $0 } == 2)
        let fresh = runner(rounds: 1, file: file, build: "another", play: count)
        await fresh.forget()
        _ = try await fresh.run(width: 1)
        #expect(played.withLockedValue { $0 } == 3)
    }

    @Test("repeats what broke while the machine was late, but not for ever, and nothing else")
    func repeats() async throws {
        for (isBroken, delay, rounds, repeated) in [
            (true, 200, 1, 3), (true, 50, 1, 0), (false, 200, 1, 0),
        ] {
            let runner = runner(rounds: 1, delay: .milliseconds(delay), isBroken: isBroken) {}
            let row = try #require(try await runner.run(width: 1).first)
            #expect(row.rounds.count == rounds && row.repeated.count == repeated)
            #expect(Table([row]).isBroken == isBroken)
        }
    }

    @Test("the table tells the median, the worst and what is allowed")
    func table() throws {
        var row = Row(job, build: "one")
        for seconds in [1.0, 3, 2] {
            let finding = Finding(.offline, took: .seconds(seconds), limit: .seconds(7))
            row.rounds.append(Round([finding, Finding(.steadiness)], took: .seconds(1), delay: .zero))
        }
        let cells = try #require(Table([row]).markdown.split(separator: "\n").last).split(separator: "|")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(cells[0...1] == ["device: goodbye", "3"])
        #expect(cells.contains("2 / 3 of 7"))
        #expect(cells.last == "holds")
    }

    private func runner(
        rounds: Int, file: URL? = nil, build: String = "one", delay: Duration = .zero, isBroken: Bool = false,
        play: @escaping @Sendable () -> Void
    ) -> Runner {
        Runner([job], rounds: rounds, file: file, build: build) { _ in
        } story: { _, _ in
            play()
            return Story(findings: [Finding(.offline, broken: isBroken ? "late" : nil)])
        } delay: { _ in
            delay
        }
    }
}
