// What a worker logs, for a test to look at.

import Logging

@testable import RollcallWorker

/// Writes a log's lines into a journal.
struct Scribe: LogHandler {
    private let journal: Journal
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(_ journal: Journal) {
        self.journal = journal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let more = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        journal.note("\(event.level) \(event.message) \(more)")
    }
}
