// The sentence for what is to be said of those who type.

extension Language {
    /// The sentence, without dots.
    ///
    /// - Parameter isolating: whether names are kept from disturbing the order of letters around them, which matters to
    ///   the eye and not to the ear.
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

    /// The form for this number, with the number in it.
    func text(of forms: Forms, count: Int) -> String {
        forms[plural.category(of: count)].filled("count", with: String(count))
    }

    private func person(_ name: String, isolating: Bool) -> String {
        let isolates = isolating && (direction == .rightToLeft || DisplayName.isRightToLeft(name))
        return words.typing.person.filled("name", with: isolates ? "\u{2068}\(name)\u{2069}" : name)
    }
}

extension String {
    /// This phrase with `value` for its `{placeholder}`.
    func filled(_ placeholder: String, with value: String) -> String {
        replacing("{\(placeholder)}", with: value)
    }
}
