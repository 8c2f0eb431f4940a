// The language that the texts of others are told in. The commands themselves speak English.

package import RollcallClient

/// A language that there is not, and those that there are.
package struct UnknownLanguage: Error, Hashable, CustomStringConvertible {
    package let name: String

    package var description: String {
        let known = Language.all.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
        return "there is no language \"\(Shown.text(name))\"; there are \(known)"
    }
}

extension Language {
    /// The language that somebody asked for: `de`, `de-AT` or `de_AT.UTF-8`.
    package init(named name: String) throws(UnknownLanguage) {
        let best = Language.best(for: [name])
        let asked = name.prefix { $0 != "-" && $0 != "_" && $0 != "." }.lowercased()
        // English is also the answer where there is none.
        guard best.id != Language.english.id || asked == Language.english.id else { throw UnknownLanguage(name: name) }
        self = best
    }
}
