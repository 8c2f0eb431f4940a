// Runs faults, several at a time, since most of a round is waiting. Stores the results, so that an interrupted run
// continues where it was.

public import Foundation
internal import Harness

/// A run of the suite.
public actor Runner {
    private let jobs: [Job]
    private let rounds: Int?
    private let build: String
    private let progress: @Sendable (String) -> Void
    private let authentication: Authentication?
    private let metronome = Metronome()
    private var archive: Archive
    private var pending: [(job: Job, missing: Int)] = []
    private var total = 0
    private var played = 0
    private var spent = 0.0
    private var width = 1
    private let end: Moment?

    /// A round that broke a promise while the suite's own process was delayed by more than this is repeated.
    private static let noise = Duration.milliseconds(100)

    /// - Parameters:
    ///   - rounds: the number of rounds of each fault; `nil` for the number in its settings.
    ///   - time: plays one round of each row instead, in the order of how long ago the row was played, and begins none
    ///     after this time.
    ///   - file: where results are read and stored; `nil` stores none.
    ///   - progress: called with lines of text for the user.
    public init(
        _ jobs: [Job], rounds: Int? = nil, for time: Duration? = nil, authentication: Authentication? = nil,
        file: URL? = nil, progress: @escaping @Sendable (String) -> Void
    ) throws {
        (self.jobs, self.rounds, self.authentication, self.progress) = (jobs, rounds, authentication, progress)
        build = try Build.current()
        end = time.map { .now + $0 }
        archive = Archive(file: file)
    }

    /// The requested rows, in order, as far as they exist.
    public var rows: [Row] { jobs.compactMap { archive.row(of: $0) } }

    /// Returns whether a row was measured with the current build.
    public func isCurrent(_ row: Row) -> Bool { row.build == build }

    /// Deletes earlier results of the requested rows.
    public func forget() {
        for job in jobs { archive.forget(job) }
    }

    /// Runs the missing rounds.
    ///
    /// - Parameter width: the number of concurrent rounds; heavy ones run alone.
    /// - Returns: the requested rows, in order.
    public func run(width: Int) async -> [Row] {
        self.width = max(1, width)
        prepare()
        for isHeavy in end == nil ? [false, true] : [true, false] {
            await withDiscardingTaskGroup { group in
                for _ in 0..<(isHeavy ? 1 : self.width) {
                    group.addTask { while let next = await self.next(isHeavy) { await self.play(next) } }
                }
            }
        }
        return rows
    }

    private func prepare() {
        for job in jobs {
            if archive.row(of: job).map({ !isCurrent($0) }) ?? false { archive.forget(job) }
            let missing = max(0, rounds(of: job) - (archive.row(of: job)?.rounds.count ?? 0))
            if missing > 0 { pending.append((job, missing)) }
            total += missing
        }
        if let end { choose(until: end) }
        if total > 0 { progress("\(total) rounds to play of \(jobs.count) rows") }
    }

    /// One round of each row, the one played longest ago first. Of the rows that run alone, which take minutes, only
    /// one, and only if there are eight minutes.
    private func choose(until end: Moment) {
        let sorted = jobs.sorted { archive.lastPlayed($0) < archive.lastPlayed($1) }
        let heavy = sorted.filter(\.fault.isHeavy).prefix(end - .now >= .seconds(480) ? 1 : 0)
        let chosen = heavy + sorted.filter { !$0.fault.isHeavy }
        pending = chosen.map { ($0, 1) }
        total = chosen.count
    }

    private func rounds(of job: Job) -> Int {
        min(rounds ?? job.settings.rounds, job.fault.mostRounds)
    }

    // MARK: Rounds

    private typealias Next = (job: Job, circumstances: Circumstances)

    /// In every other round of a row, the workers have just started, and every other round uses signed tokens. Four
    /// rounds cover all combinations, two cover each variant once, and a single round uses those of production: signed
    /// tokens and workers that have run for a while.
    private func next(_ isHeavy: Bool) -> Next? {
        if let end, .now >= end { return nil }
        guard let index = pending.firstIndex(where: { $0.job.fault.isHeavy == isHeavy }) else { return nil }
        pending[index].missing -= 1
        let next = pending[index]
        if pending[index].missing == 0 { pending.remove(at: index) }
        let isWarm = next.missing.isMultiple(of: 2)
        let isSigned = (next.missing + next.missing / 2).isMultiple(of: 2)
        return (
            next.job, Circumstances(isWarm: isWarm, authentication: authentication ?? (isSigned ? .jwt : .insecure))
        )
    }

    private func play(_ next: Next) async {
        let start = Moment.now
        let story = await Story.of(next.job, next.circumstances)
        if let evidence = story.evidence {
            write("evidence of \(next.job.name)") { try archive.keep(evidence, of: next.job) }
        }
        var round = Round(story.findings, took: .now - start, delay: metronome.longestDelay(since: start))
        round.authentication = next.circumstances.authentication.rawValue
        keep(round, of: next.job)
    }

    /// Reports a file that cannot be written, and continues: all rounds still run, and all rows are returned.
    private func write(_ what: String, _ body: () throws -> Void) {
        do { try body() } catch { progress("cannot write \(what): \(error)") }
    }

    private func keep(_ round: Round, of job: Job) {
        var row = archive.row(of: job) ?? Row(job, build: build)
        let isNoise = round.isBroken && round.delay > Self.noise.inSeconds
        let isRepeated = isNoise && row.repeated.count < max(3, rounds(of: job))
        if isRepeated {
            row.repeated.append(round)
            pending.append((job, 1))
        } else {
            row.rounds.append(round)
            played += 1
        }
        write("results") { try archive.keep(row, of: job) }
        tell(of: round, in: row, of: job, isRepeated: isRepeated)
    }

    private func tell(of round: Round, in row: Row, of job: Job, isRepeated: Bool) {
        spent += round.seconds
        let left = spent / Double(played + 1) * Double(total - played) / Double(width) / 60
        let count = "[\(played)/\(total), \(Int(left.rounded(.up))) min left]"
        if round.isBroken {
            let why = round.broken.prefix(3).map { "\n      \($0)" }.joined()
            let how = round.authentication.map { " (\($0))" } ?? ""
            progress(
                "\(count) \(job.name)\(how): \(isRepeated ? "to be repeated, the machine was late" : "BROKEN")\(why)")
        } else if end != nil || row.rounds.count >= rounds(of: job) {
            progress("\(count) \(job.name): done")
        }
    }
}
