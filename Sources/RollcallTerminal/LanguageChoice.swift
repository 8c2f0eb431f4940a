// The language of texts about users. The commands themselves use English.

package import RollcallClient

/// An unknown language. The description lists those that are available.
package struct UnknownLanguage: Error, Hashable, CustomStringConvertible {
    package let name: String

    package var description: String {
        let known = Language.all.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
        return "there is no language \"\(Shown.text(name))\"; there are \(known)"
    }
}

extension Language {
    /// Returns the language with this name: `de`, `de-AT` or `de_AT.UTF-8`.
    package init(named name: String) throws(UnknownLanguage) {
        let best = Language.best(for: [name])
        let asked = name.prefix { $0 != "-" && $0 != "_" && $0 != "." }.lowercased()
        // English is also the result if there is no match.
        guard best.id != Language.english.id || asked == Language.english.id else { throw UnknownLanguage(name: name) }
        self = best
    }
}
