// The examples in docs/texts.md: written by hand, and also used by the tests of the browser module, so that the two
// stay the same.

import Foundation
import RollcallProtocol
import Testing

@testable import RollcallClient

struct Golden: Decodable {
    let typing: [TypingCase]
    let lastSeen: [LastSeenCase]
    let groups: [GroupCase]
    let presence: [PresenceCase]
    let plurals: [PluralCase]

    static let cases: Golden = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "golden.json")
        return try! JSONDecoder().decode(Golden.self, from: Data(contentsOf: file))
    }()

    struct TypingCase: Decodable, CustomTestStringConvertible {
        let language: String
        /// In the order in which they started; `nil` for users without a name.
        let typists: [String?]
        /// In turns.
        let kinds: [String]?
        let count: Int?
        let maximumNames: Int?
        let severalFrom: Int?
        let longestName: Int?
        let dots: String?
        let order: String?
        let text: String
        let label: String

        var testDescription: String { "\(language): \(text)" }
    }

    struct LastSeenCase: Decodable, CustomTestStringConvertible {
        let language: String
        let style: String
        let seconds: Int64
        let text: String

        var testDescription: String { "\(language): \(text)" }
    }

    struct GroupCase: Decodable {
        let language: String
        let online: Int
        let total: Int
        let text: String
    }

    struct PresenceCase: Decodable {
        let language: String
        let online: String
        let away: String
        let offline: String
        let busy: String
        /// What is shown of somebody who is not to be disturbed until three.
        let until: String
    }

    struct PluralCase: Decodable {
        let language: String
        let zero, one, two, few, many, other: [Int]?

        var numbers: [(PluralCategory, [Int])] {
            [
                (.zero, zero ?? []), (.one, one ?? []), (.two, two ?? []), (.few, few ?? []), (.many, many ?? []),
                (.other, other ?? []),
            ]
        }
    }
}

extension Language {
    static func named(_ id: String) throws -> Language {
        guard let language = all.first(where: { $0.id == id }) else { throw Missing(id: id) }
        return language
    }

    private struct Missing: Error {
        let id: String
    }
}
