// The format of a worker's log: one line per event on standard error, for people (text) or programs (JSON).

import Foundation
public import Logging
import RollcallProtocol
public import RollcallServer

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
        func text(_ line: LogLine) -> String { (format == .json ? line.json : line.text) + "\n" }
        output(text(line)) { lost in
            text(.warning("log lines were lost: the reader stopped", ["lines": "\(lost)"], at: now(), label: label))
        }
    }
}

/// One log event and its two formats.
struct LogLine {
    var time: Date
    var level: Logger.Level
    var label: String
    var message: String
    var metadata: Logger.Metadata

    static func warning(_ message: String, _ metadata: Logger.Metadata, at time: Date, label: String) -> LogLine {
        LogLine(time: time, level: .warning, label: label, message: message, metadata: metadata)
    }

    /// `2026-01-02T03:04:05.678Z info  rollcall.node: lease renewed time=12 user=alice`
    var text: String {
        let words = metadata.sorted { $0.key < $1.key }.map { " \($0.key.escapedForLog)=\(Self.word($0.value))" }
        let level = level.rawValue + String(repeating: " ", count: 8 - level.rawValue.count)
        return "\(timestamp) \(level) \(label): \(message.escapedForLog)\(words.joined())"
    }

    /// One object: `time`, `level`, `label` and `message`, and the metadata by key under `metadata`.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var event: [String: JSONValue] = [
            "label": .text(label), "level": .text(level.rawValue), "message": .text(message), "time": .text(timestamp),
        ]
        if !metadata.isEmpty { event["metadata"] = .dictionary(metadata.mapValues(JSONValue.init)) }
        // Strings, and lists and dictionaries of strings, can always be encoded.
        return (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self).escapedForJSONLog } ?? "{}"
    }

    private var timestamp: String {
        time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// A value that reads as exactly one word: quoted if it is empty or has spaces.
    private static func word(_ value: Logger.Metadata.Value) -> String {
        let text = "\(value)"
        let escaped = text.escapedForLog
        let isPlain =
            !text.isEmpty && ByteString(escaped) == ByteString(text)
            && !text.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "=" }
        return isPlain ? text : "\"\(escaped)\""
    }

    private enum JSONValue: Encodable {
        case text(String)
        case list([JSONValue])
        case dictionary([String: JSONValue])

        init(_ value: Logger.Metadata.Value) {
            switch value {
            case .string(let text): self = .text(text)
            case .stringConvertible(let thing): self = .text("\(thing)")
            case .array(let values): self = .list(values.map(JSONValue.init))
            case .dictionary(let values): self = .dictionary(values.mapValues(JSONValue.init))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .list(let values): try container.encode(values)
            case .dictionary(let values): try container.encode(values)
            }
        }
    }
}
