// A run of the suite: which rounds it runs, which it repeats, and where it continues.

import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import FaultSuite

@Suite("A run of faults")
struct RunnerTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString).json")
    private let job = Job(.goodbye, .short)

    @Test("runs as many rounds as requested, and none that an earlier run finished")
    func resumes() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let played = NIOLockedValueBox(0)
        for (rounds, total) in [(2, 2), (2, 2), (5, 5)] {
            let runner = runner(rounds: rounds, file: file) { played.withLockedValue { $0 += 1 } }
            let rows = await runner.run(width: 3)
            #expect(rows.map(\.rounds.count) == [total])
            #expect(played.withLockedValue { $0 } == total)
        }
    }

    @Test("runs everything again for another build, or on request")
    func beginsAnew() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let played = NIOLockedValueBox(0)
        let count: @Sendable () -> Void = { played.withLockedValue { $0 += 1 } }
        _ = await runner(rounds: 1, file: file, play: count).run(width: 1)
        _ = await runner(rounds: 1, file: file, build: "another", play: count).run(width: 1)
        #expect(played.withLockedValue { $0 } == 2)
        let fresh = runner(rounds: 1, file: file, build: "another", play: count)
        await fresh.forget()
        _ = await fresh.run(width: 1)
        #expect(played.withLockedValue { $0 } == 3)
    }

    @Test("repeats only rounds that failed while the machine was busy, and not forever")
    func repeats() async throws {
        for (isBroken, delay, rounds, repeated) in [
            (true, 200, 1, 3), (true, 50, 1, 0), (false, 200, 1, 0),
        ] {
            let runner = runner(rounds: 1, delay: .milliseconds(delay), isBroken: isBroken) {}
            let row = try #require(await runner.run(width: 1).first)
            #expect(row.rounds.count == rounds && row.repeated.count == repeated)
            #expect(Table([row]).isBroken == isBroken)
        }
    }

    @Test("a round whose results and evidence cannot be written is reported, and all others still run")
    func cannotWrite() async throws {
        // A file exists where their folder would be.
        let blocked = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
        try Data().write(to: blocked)
        defer { try? FileManager.default.removeItem(at: blocked) }
        let lines = NIOLockedValueBox<[String]>([])
        let runner = Runner([job], rounds: 2, file: blocked.appending(path: "faults.json"), build: "one") { line in
            lines.withLockedValue { $0.append(line) }
        } story: { _, _ in
            Story(findings: [Finding(.offline, broken: "late")], evidence: "notes")
        } delay: { _ in
            .zero
        }
        let row = try #require(await runner.run(width: 1).first)
        #expect(row.rounds.count == 2)
        #expect(Table([row]).isBroken)
        let told = lines.withLockedValue { $0 }
        for what in ["evidence of \(job.name)", "results"] {
            #expect(told.count { $0.hasPrefix("cannot write \(what): ") } == 2)
        }
    }

    @Test("workers have just started in every other round, tokens are signed in every other one, in all combinations")
    func circumstances() async throws {
        let played = NIOLockedValueBox<[Circumstances]>([])
        for (rounds, authentication) in [(4, nil), (2, nil), (1, nil), (2, Authentication.jwt)] {
            played.withLockedValue { $0 = [] }
            let runner = Runner(
                [job], rounds: rounds, authentication: authentication, file: nil, build: "one"
            ) { _ in
            } story: { _, circumstances in
                played.withLockedValue { $0.append(circumstances) }
                return Story(findings: [])
            } delay: { _ in
                .zero
            }
            _ = await runner.run(width: 1)
            let all = played.withLockedValue { $0 }
            #expect(Set(all).count == rounds)
            let signed = all.count { $0.authentication == .jwt }
            #expect(signed == (authentication == .jwt ? rounds : (rounds + 1) / 2))
        }
    }

    @Test("the table shows the median, the worst and the limit")
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
