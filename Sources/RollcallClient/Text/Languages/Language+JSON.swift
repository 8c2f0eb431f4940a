// A language as an object of JSON, in the form that `words.json` has, so that one text serves an app and a web page.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Language {
    /// A language of the app's own, from an object in the form of Rollcall's `words.json`.
    ///
    /// - Throws: ``InvalidLanguage``, which names every key that is missing or wrong.
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

/// What is wrong with a language.
public struct InvalidLanguage: Error, Hashable, CustomStringConvertible {
    /// A sentence each.
    public let problems: [String]

    public var description: String { problems.joined(separator: "; ") }
}
