// Goes through faults, several side by side, since most of a fault is waiting; and keeps what was measured, so that a
// run that was ended goes on where it was.

public import Foundation
internal import Harness

/// A run of the suite.
public actor Runner {
    private let jobs: [Job]
    private let rounds: Int?
    private let build: String
    private let progress: @Sendable (String) -> Void
    private let authentication: Authentication?
    private let story: @Sendable (Job, Circumstances) async -> Story
    private let delay: @Sendable (_ since: Moment) -> Duration
    private var archive: Archive
    private var pending: [(job: Job, missing: Int)] = []
    private var total = 0
    private var played = 0
    private var spent = 0.0
    private var width = 1

    /// A round that broke a promise while the suite was later than this by itself is played again.
    private static let noise = Duration.milliseconds(100)

    /// - Parameters:
    ///   - rounds: how often each; `nil` for as often as its settings say.
    ///   - file: where results are kept, and looked for; `nil` keeps none.
    ///   - progress: told a line for people now and then.
    public init(
        _ jobs: [Job], rounds: Int? = nil, authentication: Authentication? = nil, file: URL? = nil,
        progress: @escaping @Sendable (String) -> Void
    ) throws {
        let metronome = Metronome()
        self.init(
            jobs, rounds: rounds, authentication: authentication, file: file, build: try Build.current(),
            progress: progress, story: Story.of(_:_:), delay: metronome.longestDelay(since:))
    }

    /// - Parameters:
    ///   - story: goes through a fault.
    ///   - delay: how late this process was since a moment, at the worst.
    init(
        _ jobs: [Job], rounds: Int?, authentication: Authentication? = nil, file: URL?, build: String,
        progress: @escaping @Sendable (String) -> Void,
        story: @escaping @Sendable (Job, Circumstances) async -> Story,
        delay: @escaping @Sendable (_ since: Moment) -> Duration
    ) {
        (self.jobs, self.rounds, self.authentication, self.build) = (jobs, rounds, authentication, build)
        (self.progress, self.story, self.delay) = (progress, story, delay)
        archive = Archive(file: file)
    }

    /// The rows asked for, in their order, as far as there are any.
    public var rows: [Row] { jobs.compactMap { archive.row(of: $0) } }

    /// Whether a row was measured with the present build.
    public func isCurrent(_ row: Row) -> Bool { row.build == build }

    /// Lets go of what was measured of these rows before.
    public func forget() {
        for job in jobs { archive.forget(job) }
    }

    /// Plays what is missing.
    ///
    /// - Parameter width: how many rounds side by side; heavy ones are played alone.
    /// - Returns: the rows asked for, in their order.
    public func run(width: Int) async -> [Row] {
        self.width = max(1, width)
        prepare()
        for isHeavy in [false, true] {
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
        if total > 0 { progress("\(total) rounds to play of \(jobs.count) rows") }
    }

    private func rounds(of job: Job) -> Int {
        min(rounds ?? job.settings.rounds, job.fault.mostRounds)
    }

    // MARK: Rounds

    private typealias Next = (job: Job, circumstances: Circumstances)

    /// Every other round of a row has workers that have only just begun, and every other one signed tokens: four rounds
    /// have each combination, two have each of both, and one has what production has.
    private func next(_ isHeavy: Bool) -> Next? {
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
        let story = await story(next.job, next.circumstances)
        if let evidence = story.evidence {
            write("evidence of \(next.job.name)") { try archive.keep(evidence, of: next.job) }
        }
        var round = Round(story.findings, took: .now - start, delay: delay(start))
        round.authentication = next.circumstances.authentication.rawValue
        keep(round, of: next.job)
    }

    /// A file that cannot be written costs the run nothing else: all rows are still played and returned.
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
        } else if row.rounds.count >= rounds(of: job) {
            progress("\(count) \(job.name): done")
        }
    }
}
