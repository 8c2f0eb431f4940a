// One log event and its two formats.

import Logging
import RollcallModel
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        let level = level.rawValue.padding(to: 8)
        return "\(timestamp) \(level) \(label): \(message.escapedForLog)\(words.joined())"
    }

    /// One object: `time`, `level`, `label` and `message`, and the metadata by key under `metadata`.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let event = Event(
            label: label, level: level.rawValue, message: message,
            metadata: metadata.isEmpty ? nil : metadata.mapValues(JSONValue.init), time: timestamp)
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
            !text.isEmpty && escaped.isSame(as: text)
            && !text.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "=" }
        return isPlain ? text : "\"\(escaped)\""
    }

    private struct Event: Encodable {
        var label: String
        var level: String
        var message: String
        var metadata: [String: JSONValue]?
        var time: String
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

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
