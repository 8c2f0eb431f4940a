// Reads a language from a JSON object as in `words.json`, so that an app and a web page can share one file.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Language {
    /// Creates a language from a JSON object with the format of Rollcall's `words.json`.
    ///
    /// - Parameters:
    ///   - json: the object. docs/texts.md describes its keys.
    ///   - plural: the plural rule of the language, which the object does not contain.
    /// - Throws: ``InvalidLanguage``. If the JSON cannot be decoded, it contains only the first problem.
    public init(json: String, plural: PluralRule) throws(InvalidLanguage) {
        let entry: Entry
        do {
            entry = try JSONDecoder().decode(Entry.self, from: Data(json.utf8))
        } catch {
            throw InvalidLanguage(problems: [Self.sentence(for: error)])
        }
        self.init(entry, plural: plural)
        guard problems.isEmpty else { throw InvalidLanguage(problems: problems) }
    }

    init(_ entry: Entry, plural: PluralRule) {
        self.init(
            id: entry.id, name: entry.name, direction: entry.direction, list: entry.list, plural: plural,
            words: Words(typing: entry.typing, lastSeen: entry.lastSeen, presence: entry.presence))
    }

    struct Entry: Decodable {
        var id: String
        var name: String
        var direction: Direction
        var list: ListPattern
        var typing: Words.Typing
        var lastSeen: Words.LastSeen
        var presence: Words.Presence
    }

    private static func sentence(for error: any Error) -> String {
        func key(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case DecodingError.keyNotFound(let missing, let context): "\(key(context.codingPath + [missing])) is missing"
        case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
            DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            "\(key(context.codingPath)) is wrong: \(context.debugDescription)"
        default: "it is no such JSON: \(error)"
        }
    }
}

/// The problems of a language.
public struct InvalidLanguage: Error, Hashable, CustomStringConvertible {
    /// One sentence for each problem.
    public let problems: [String]

    public var description: String { problems.joined(separator: "; ") }
}
