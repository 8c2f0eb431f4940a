// Names that are hard to transport as text. The names of a family are canonically equal: Swift's `String` treats them
// as one, Redis does not.

internal import RollcallProtocol

/// Draws names for users, devices and conversations.
enum NameAlphabet {
    private static let families: [[String]] = [
        ["caf\u{E9}", "cafe\u{301}"],
        ["\u{212B}", "\u{C5}", "A\u{30A}"],
        ["\u{D55C}", "\u{1112}\u{1161}\u{11AB}"],
        ["q\u{323}\u{307}", "q\u{307}\u{323}"],
        [String(repeating: "\u{E9}", count: 42), String(repeating: "e\u{301}", count: 42)],
        // A leading mark or joiner forms one `Character` with the text before the name.
        ["\u{301}x"], ["\u{200D}j"], ["\u{FE0F}v"], ["\u{20E3}"], ["\u{1F3FD}tone"], ["\u{1161}\u{11A8}"],
        ["a\u{200D}"], ["\u{1F1E6}"], ["\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}"],
        ["\u{202E}rtl"], ["\u{2066}iso\u{2069}"], ["\u{5D0}\u{5D1}"], ["\u{FEFF}bom"], ["\u{200B}"], ["\u{10FFFF}"],
        [String(repeating: "z", count: 128)], [String(repeating: "\u{1F600}", count: 32)],
        ["__proto__"], ["constructor"], ["null"], ["0"], ["-1"], ["1e3"],
        ["\"quoted\\"], ["a/b"], ["a:b"], ["device:phone"], ["*"], ["[a-z]?"], ["%00"], ["<b>&amp;"],
    ]

    /// Draws `count` names with different bytes, often several of one family.
    static func names<Kind>(_ count: Int, drawnBy chance: Chance) -> [Identifier<Kind>] {
        var names: [Identifier<Kind>] = []
        while names.count < count {
            let family = chance.pick(families)
            for text in chance.happens(0.7) ? family : [chance.pick(family)] where names.count < count {
                let name = name(text) as Identifier<Kind>
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    static func name<Kind>(_ text: String) -> Identifier<Kind> {
        guard let name = try? Identifier<Kind>(text) else { preconditionFailure("\(text.utf8) is no name") }
        return name
    }
}

extension String {
    /// Orders texts by their bytes, since `<` treats canonically equal texts as the same.
    func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
