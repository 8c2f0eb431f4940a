// Goes through faults, several side by side, since most of a fault is waiting; and keeps what was measured, so that a
// run that was ended goes on where it was.

public import Foundation
internal import Harness

/// A run of the suite.
public actor Runner {
    /// One fault with one of the settings.
    public struct Job: Sendable {
        public let fault: Fault
        public let settings: Settings

        public init(_ fault: Fault, _ settings: Settings) {
            (self.fault, self.settings) = (fault, settings)
        }

        var key: String { Row.key(fault, settings) }
        public var name: String { "\(settings.name): \(fault.group): \(fault.name)" }
    }

    /// How a round went.
    struct Story: Sendable {
        var findings: [Finding]
        /// Kept where a promise was broken.
        var evidence: String?
    }

    private var results: Results
    private let jobs: [Job]
    private let rounds: Int?
    private let build: String
    private let file: URL?
    private let progress: @Sendable (String) -> Void
    private let story: @Sendable (Job, _ isWarm: Bool) async -> Story
    private let delay: @Sendable (_ since: Moment) -> Duration
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
        _ jobs: [Job], rounds: Int? = nil, file: URL? = nil, progress: @escaping @Sendable (String) -> Void
    ) throws {
        let metronome = Metronome()
        self.init(
            jobs, rounds: rounds, file: file, build: try Build.current(), progress: progress,
            story: Stage.story(of:isWarm:), delay: metronome.longestDelay(since:))
    }

    /// - Parameters:
    ///   - story: goes through a fault.
    ///   - delay: how late this process was since a moment, at the worst.
    init(
        _ jobs: [Job], rounds: Int?, file: URL?, build: String, progress: @escaping @Sendable (String) -> Void,
        story: @escaping @Sendable (Job, _ isWarm: Bool) async -> Story,
        delay: @escaping @Sendable (_ since: Moment) -> Duration
    ) {
        (self.jobs, self.rounds, self.file, self.build) = (jobs, rounds, file, build)
        (self.progress, self.story, self.delay) = (progress, story, delay)
        results = file.map { Results(file: $0) } ?? Results()
    }

    /// The rows asked for, in their order, as far as there are any.
    public var rows: [Row] { jobs.compactMap { results.rows[$0.key] } }

    /// Lets go of what was measured of these rows before.
    public func forget() {
        for job in jobs {
            results.rows[job.key] = nil
            for number in 1...100 { try? evidence(number, of: job).map(FileManager.default.removeItem(at:)) }
        }
    }

    /// Plays what is missing.
    ///
    /// - Parameter width: how many rounds side by side; heavy ones are played alone.
    /// - Returns: the rows asked for, in their order.
    public func run(width: Int) async throws -> [Row] {
        prepare()
        self.width = max(1, width)
        for isHeavy in [false, true] {
            await withDiscardingTaskGroup { group in
                for _ in 0..<(isHeavy ? 1 : self.width) {
                    group.addTask { while let job = await self.next(isHeavy: isHeavy) { await self.play(job) } }
                }
            }
        }
        return rows
    }

    /// Rows of another build are begun anew.
    private func prepare() {
        for job in jobs {
            var row = results.rows[job.key].flatMap { $0.build == build ? $0 : nil }
            row = row ?? Row(group: job.fault.group, fault: job.fault.name, settings: job.settings.name, build: build)
            results.rows[job.key] = row
            let missing = max(0, rounds(of: job) - (row?.rounds.count ?? 0))
            if missing > 0 { pending.append((job, missing)) }
            total += missing
        }
        if total > 0 { progress("\(total) rounds to play of \(jobs.count) rows") }
    }

    private func rounds(of job: Job) -> Int {
        min(rounds ?? job.settings.rounds, job.fault.mostRounds)
    }

    private func next(isHeavy: Bool) -> Job? {
        guard let index = pending.firstIndex(where: { $0.job.fault.isHeavy == isHeavy }) else { return nil }
        pending[index].missing -= 1
        let job = pending[index].job
        if pending[index].missing == 0 { pending.remove(at: index) }
        return job
    }

    private func play(_ job: Job) async {
        let number = played
        let round = await round(of: job, isWarm: number.isMultiple(of: 2))
        keep(round, of: job)
    }

    private func keep(_ round: Round, of job: Job) {
        let isNoise = round.isBroken && round.delay > Self.noise.inSeconds
        let limit = rounds(of: job)
        if isNoise, let row = results.rows[job.key], row.repeated.count < max(3, limit) {
            results.rows[job.key]?.repeated.append(round)
            pending.append((job, 1))
        } else {
            results.rows[job.key]?.rounds.append(round)
            played += 1
        }
        if let file { try? results.write(to: file) }
        tell(of: round, of: job, isNoise: isNoise)
    }

    private func tell(of round: Round, of job: Job, isNoise: Bool) {
        spent += round.seconds
        let left = spent / Double(played + 1) * Double(total - played) / Double(width) / 60
        let count = "[\(played)/\(total), \(Int(left.rounded(.up))) min left]"
        if round.isBroken {
            let why = round.broken.prefix(3).map { "\n      \($0)" }.joined()
            progress("\(count) \(job.name): \(isNoise ? "to be repeated, the machine was late" : "BROKEN")\(why)")
        } else if let row = results.rows[job.key], row.rounds.count >= rounds(of: job) {
            progress("\(count) \(job.name): done")
        }
    }

    /// Beside the results, in a file for each broken round.
    private func keep(_ evidence: String, of job: Job) {
        let played = (results.rows[job.key]?.rounds.count ?? 0) + (results.rows[job.key]?.repeated.count ?? 0)
        guard let file = self.evidence(played + 1, of: job) else { return }
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? Data(evidence.utf8).write(to: file)
    }

    private func evidence(_ number: Int, of job: Job) -> URL? {
        let name = job.name.split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        return file?.deletingPathExtension().appending(path: "\(name)-\(number).txt")
    }

    private func round(of job: Job, isWarm: Bool) async -> Round {
        let start = Moment.now
        let story = await story(job, isWarm)
        if let evidence = story.evidence { keep(evidence, of: job) }
        return Round(story.findings, took: .now - start, delay: delay(start))
    }
}

extension Stage {
    /// Goes through a fault on a stage of its own.
    static func story(of job: Runner.Job, isWarm: Bool) async -> Runner.Story {
        var equipment = job.fault.equipment
        equipment.isWarm = isWarm
        do {
            let stage = try await Stage(job.settings, equipment)
            var findings: [Finding]
            do {
                findings = try await stage.play(job.fault)
            } catch {
                findings = [Finding(.other, broken: "the fault could not be made: \(error)")]
            }
            let isBroken = findings.contains { $0.broken != nil }
            let evidence = isBroken ? stage.evidence() : nil
            await stage.strike()
            return Runner.Story(findings: findings, evidence: evidence)
        } catch {
            return Runner.Story(findings: [Finding(.other, broken: "the stage could not be set: \(error)")])
        }
    }
}
