// The format of a worker's log: one line per event on standard error, for people (text) or programs (JSON).

public import Logging
public import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes each event as one line, whatever its message and metadata contain.
public struct WorkerLog: LogHandler {
    /// Writes a complete line, including its newline. If lines were dropped before, `notice` builds the line that
    /// reports how many.
    typealias Output = @Sendable (_ line: String, _ notice: (_ lost: Int) -> String) -> Void

    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: WorkerConfiguration.Log.Format
    private let now: @Sendable () -> Date
    private let output: Output

    init(
        label: String, _ configuration: WorkerConfiguration.Log, now: @escaping @Sendable () -> Date = { .now },
        output: @escaping Output
    ) {
        self.label = label
        logLevel = configuration.level
        format = configuration.format
        self.now = now
        self.output = output
    }

    /// Installs this log for the process. Call it once, before the first logger is created.
    public static func bootstrap(_ configuration: WorkerConfiguration.Log) {
        LoggingSystem.bootstrap { label in
            WorkerLog(label: label, configuration, output: LogStream.standardError.write)
        }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var metadata = metadata
        if let provided = metadataProvider?.get() { metadata.merge(provided) { $1 } }
        if let given = event.metadata { metadata.merge(given) { $1 } }
        if let error = event.error { metadata["error"] = "\(error)" }
        let line = LogLine(
            time: now(), level: event.level, label: label, message: "\(event.message)", metadata: metadata)
        output(text(of: line)) { lost in
            text(of: .warning("log lines were lost: the reader stopped", ["lines": "\(lost)"], at: now(), label: label))
        }
    }

    private func text(of line: LogLine) -> String {
        switch format {
        case .text: line.text + "\n"
        case .json: line.json + "\n"
        }
    }
}
