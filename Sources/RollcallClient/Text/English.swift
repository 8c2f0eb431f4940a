// The English words.

enum English {
    static let someone = "Someone"

    static func text(for sentence: TypingSentence) -> String {
        switch sentence {
        case .nobody: ""
        case .someone: "\(someone) is typing"
        case .names(let names): "\(list(names)) \(names.count == 1 ? "is" : "are") typing"
        case .namesAndOthers(let names, let others): "\(list(names + [counted(others)])) are typing"
        case .people(let count): "\(count) people are typing"
        case .several: "Several people are typing"
        }
    }

    private static func counted(_ others: Int) -> String {
        others == 1 ? "1 other" : "\(others) others"
    }

    /// With a comma before the `and` of three or more.
    private static func list(_ items: [String]) -> String {
        switch items.count {
        case 0, 1: items.first ?? ""
        case 2: "\(items[0]) and \(items[1])"
        default: items.dropLast().joined(separator: ", ") + ", and " + items[items.count - 1]
        }
    }
}
