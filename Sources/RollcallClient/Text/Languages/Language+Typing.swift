// Builds the sentence that says who is typing.

extension Language {
    /// Returns the sentence, without dots.
    ///
    /// - Parameter isolating: whether names are wrapped in isolates, so that they do not change the order of the text
    ///   around them. That matters on a screen, but not for a screen reader.
    func text(for sentence: TypingSentence, isolating: Bool) -> String {
        let typing = words.typing
        func people(_ names: [String], and last: String? = nil, total: Int) -> String {
            let items = names.map { person($0, isolating: isolating) } + (last.map { [$0] } ?? [])
            guard total > 1 else { return typing.one.filled("name", with: items[0]) }
            return typing.list[plural.category(of: total)].filled("list", with: list.joined(items))
        }
        switch sentence {
        case .nobody: return ""
        case .someone: return typing.someone
        case .names(let names): return people(names, total: names.count)
        case .namesAndSomeone(let names): return people(names, and: typing.someoneElse, total: names.count + 1)
        case .namesAndOthers(let names, let others):
            return people(names, and: text(of: typing.others, count: others), total: names.count + others)
        case .people(let count): return text(of: typing.people, count: count)
        case .several: return typing.several
        }
    }

    /// Returns the form for this number, with the number inserted.
    func text(of forms: Forms, count: Int) -> String {
        forms[plural.category(of: count)].filled("count", with: String(count))
    }

    private func person(_ name: String, isolating: Bool) -> String {
        let isolates = isolating && (direction == .rightToLeft || DisplayName.isRightToLeft(name))
        return words.typing.person.filled("name", with: isolates ? "\u{2068}\(name)\u{2069}" : name)
    }
}

extension String {
    /// Returns this phrase with `value` in place of `{placeholder}`.
    func filled(_ placeholder: String, with value: String) -> String {
        replacing("{\(placeholder)}", with: value)
    }
}
