// `attacks`: runs every attack many times on a real worker, and prints the results as a Markdown table.

import ArgumentParser
import AttackSuite
import Foundation
import TestSupport

@main
struct Attacks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play every attack on a real worker, and say what came back, what a witness saw, and what it cost.")

    @Option(help: "How many times each attack is made.")
    var times = 1000
    @Option(help: "Only what has this in its description; a regular expression.")
    var only: String?

    func validate() throws {
        if times < 1 { throw ValidationError("--times is at least 1") }
        if let only, (try? Regex(only)) == nil { throw ValidationError("--only is no regular expression") }
    }

    func run() async throws {
        var isBroken = false
        for signedTokens in [false, true] {
            let attacks = try Attack.all.filter { try $0.wantsSignedTokens == signedTokens && isWanted($0.description) }
            guard !attacks.isEmpty else { continue }
            let siege = try await Siege(signedTokens: signedTokens)
            // A worker's first connections are its slowest, and its memory has not reached its usual size yet.
            _ = try await siege.play(warmUp(signedTokens), times: 100)
            print(Row.head(try await siege.quiet(for: .seconds(5)), signedTokens: signedTokens))
            for attack in attacks {
                let report = try await siege.play(attack, times: times)
                print(Row.of(report))
                // A run takes many minutes: each row is shown at once, also in a file.
                fflush(nil)
                isBroken = isBroken || !report.wrong.isEmpty || report.wasWitnessLost
            }
            let damage = try await siege.damage()
            print(
                damage.isEmpty
                    ? "\nAfterwards: nothing in Redis or in the log that is not the worker's own.\n" : "\n\(damage)\n")
            isBroken = isBroken || !damage.isEmpty
        }
        isBroken = try await !weighTexts() || isBroken
        if try isWanted("what messages cost") { isBroken = try await !measureCosts() || isBroken }
        if isBroken { throw ExitCode(1) }
    }

    /// - Returns: whether no text costs more than it may.
    private func weighTexts() async throws -> Bool {
        let places = try CostlyPlace.all.filter { try isWanted("costly text: \($0)") }
        guard !places.isEmpty else { return true }
        let scales = try await Scales()
        var tooDear: [String] = []
        print("\n| costly text in | beyond plain text of its length |\n|---|---|")
        for place in places {
            let excess = try await scales.excess(at: place)
            print("| \(place) | \((excess / 1000).formatted(.number.precision(.fractionLength(2)))) ms |")
            fflush(nil)
            if excess > CostlyPlace.most { tooDear.append("\(place)") }
        }
        for place in tooDear { print("\n**\(place) costs too much**") }
        return tooDear.isEmpty
    }

    /// - Returns: whether no message costs more than it may.
    private func measureCosts() async throws -> Bool {
        let costs = try await Gallery().measure()
        print(Row.costs)
        for cost in costs { print(Row.of(cost)) }
        let excess = costs.flatMap { $0.excess(judgesTime: true) }
        for line in excess { print("\n**\(line)**") }
        return excess.isEmpty
    }

    private func warmUp(_ signedTokens: Bool) -> Attack {
        Attack.all.first { $0.wantsSignedTokens == signedTokens && $0.crowd == nil } ?? Attack.all[0]
    }

    private func isWanted(_ description: String) throws -> Bool {
        try only.map { try description.contains(Regex($0)) } ?? true
    }
}

/// Lines of the table.
private enum Row {
    static func head(_ quiet: Witness.Testimony, signedTokens: Bool) -> String {
        """
        \(signedTokens ? "Where tokens are signed" : "Where names are tokens"); the witness in quiet: \(latency(quiet))

        | what is sent | times | what came back | the witness (p50 / p99 / max) | memory before → after |
        |---|---|---|---|---|
        """
    }

    static func of(_ report: Siege.Report) -> String {
        let outcomes = report.outcomes.sorted { $0.value > $1.value }.map {
            report.outcomes.count == 1 ? $0.key : "\($0.value) × \($0.key)"
        }
        let warning = report.wrong.isEmpty ? "" : " **(wrong)**"
        let memory = "\(megabytes(report.memory.before)) → \(megabytes(report.memory.after)) MB"
        return "| \(report.attack) | \(report.times) | \(outcomes.joined(separator: ", "))\(warning) | "
            + "\(report.wasWitnessLost ? "**lost**" : latency(report.witness)) | \(memory) |"
    }

    static let costs = """

        | one message of fifty a second | commands to Redis | of Redis | of the worker | of a `ping` | bytes to each of 100 others | bytes back |
        |---|---|---|---|---|---|---|
        """

    static func of(_ cost: Amplification) -> String {
        func number(_ value: Double) -> String {
            value.formatted(.number.precision(.fractionLength(1)).locale(Locale(identifier: "en_US")))
        }
        return "| \(cost.nuisance) | \(number(cost.commands)) | \(number(cost.redisTime)) µs | "
            + "\(number(cost.workerTime)) µs | \(cost.pings.map { "\(number($0)) ×" } ?? "") | "
            + "\(number(cost.bytes)) | \(number(cost.answer)) |"
    }

    private static func latency(_ seen: Witness.Testimony) -> String {
        [0.5, 0.99, 1].map { milliseconds(seen.quantile($0)) }.joined(separator: " / ") + " ms"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        (duration / .milliseconds(1)).formatted(
            .number.precision(.fractionLength(1)).locale(Locale(identifier: "en_US")))
    }

    private static func megabytes(_ kibibytes: Int) -> String {
        (Double(kibibytes) / 1024).formatted(.number.precision(.fractionLength(1)).locale(Locale(identifier: "en_US")))
    }
}
