// Records a worker's log for tests.

import Logging

/// Writes log lines into a journal.
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
