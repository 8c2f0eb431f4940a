// Stores the measurements of a run, and evidence of the rounds that broke a promise.

internal import Foundation

/// A file with results, and a folder of the same name with evidence.
struct Archive {
    private(set) var results: Results
    private let file: URL?

    /// - Parameter file: `nil` keeps the results in memory only, without evidence.
    init(file: URL?) {
        self.file = file
        results = file.map { Results(file: $0) } ?? Results()
    }

    func row(of job: Job) -> Row? { results.rows[job.key] }

    func lastPlayed(_ job: Job) -> Date { results.played?[job.key] ?? .distantPast }

    mutating func keep(_ row: Row, of job: Job) throws {
        results.rows[job.key] = row
        results.played = (results.played ?? [:]).merging([job.key: Date()]) { $1 }
        if let file { try results.write(to: file) }
    }

    func keep(_ evidence: String, of job: Job) throws {
        let rounds = row(of: job).map { $0.rounds.count + $0.repeated.count } ?? 0
        guard let path = path(of: job, rounds + 1) else { return }
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(evidence.utf8).write(to: path)
    }

    mutating func forget(_ job: Job) {
        let rounds = row(of: job).map { $0.rounds.count + $0.repeated.count } ?? 0
        for path in (0...rounds).compactMap({ path(of: job, $0) }) { try? FileManager.default.removeItem(at: path) }
        results.rows[job.key] = nil
    }

    private func path(of job: Job, _ round: Int) -> URL? {
        let name = job.name.split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        return file?.deletingPathExtension().appending(path: "\(name)-\(round).txt")
    }
}
