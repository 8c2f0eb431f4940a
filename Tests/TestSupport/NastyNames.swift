// Names that an application may give and that code gets wrong which splits, compares, sorts or escapes text carelessly:
// one list for all tests, and a generator of more from a seed.

/// Names of users, devices and conversations that are allowed and unusual: 1–128 bytes of UTF-8 without white space,
/// control characters, `{` or `}`. No two of them have the same bytes.
public enum NastyNames {
    /// Names that join a separator before them to one `Character`: a blank and a combining mark are one.
    public static let joiningBefore = [
        "\u{301}x",  // a combining acute accent
        "\u{301}",
        "\u{301}\u{327}",
        "\u{200D}x",  // a zero-width joiner
        "\u{FE0F}x",  // a variation selector
        "\u{1F3FB}x",  // a skin tone
        "\u{903}x",  // a spacing mark
        "\u{20E3}",  // the frame of a keycap
        "\u{E0061}\u{E007F}",  // tag characters
    ]

    /// Names that join a separator behind them to one `Character`.
    public static let joiningBehind = [
        "x\u{600}",  // an Arabic number sign stands before what it belongs to
        "\u{110BD}",
    ]

    /// Pairs of names that Unicode and Swift's `String ==` take for the same, and that are two.
    public static let canonicallyEqual: [(String, String)] = [
        ("caf\u{E9}", "cafe\u{301}"),
        ("\u{E9}", "e\u{301}"),
        ("\u{3A9}", "\u{2126}"),  // omega and the ohm sign
        ("\u{C5}", "\u{212B}"),  // a letter and the ångström sign
        ("\u{AC00}", "\u{1100}\u{1161}"),  // a syllable and its parts
        ("q\u{307}\u{323}", "q\u{323}\u{307}"),  // two marks in either order
        ("\u{8C48}", "\u{F900}"),
    ]

    /// Names of exactly 128 bytes.
    public static let longest = [
        String(repeating: "a", count: 128),
        String(repeating: "\u{301}", count: 64),
        String(repeating: "\u{1F600}", count: 32),
        String(repeating: "x", count: 125) + "\u{20AC}",
    ]

    /// Names whose order by UTF-16 is not that of their bytes.
    public static let orderedOtherwise = ["\u{FF5E}", "\u{1F600}", "\u{FFFD}", "\u{10000}"]

    /// Names that mean something where they are put without care: in JavaScript, JSON, HTTP, URLs, patterns and logs.
    public static let meaningful = [
        "__proto__", "constructor", "toString", "hasOwnProperty", "null", "true", "0", "-1", "NaN",
        "a/b", "..", "%2F", "a%", "a?b", "a#b", "a&b=c", "a+b", "a;b", "a,b", "a:b", "*", "[a-z]*", "a?", "^a", "-",
        "--help",
        "\"", "\\", "\\u0301", "'", "`id`", "$(id)", "<b>", "&amp;", "a.b", "gone", "device:p", "typing:", "@", "~",
    ]

    /// Names that look like others, or like nothing, or steer how text is shown.
    public static let misleading = [
        "\u{202E}ecila", "\u{2066}a\u{2069}", "\u{200F}a", "\u{200B}", "\u{FEFF}", "\u{FEFF}a", "a\u{200D}", "\u{AD}",
        "\u{34F}",
        "\u{FFFE}", "\u{10FFFF}", "\u{E000}", "Alice", "ALICE", "\u{430}lice",
        "\u{1F1E9}", "\u{1F1E9}\u{1F1EA}",  // half a flag, and a flag
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{915}\u{94D}\u{937}",
    ]

    /// All of them.
    public static let all =
        joiningBefore + joiningBehind + canonicallyEqual.flatMap { [$0, $1] } + longest + orderedOtherwise + meaningful
        + misleading

    /// Draws a name: one from the list, or one put together from such pieces, at times of the greatest length.
    public static func draw(using random: inout some RandomNumberGenerator) -> String {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return all.randomElement(using: &random) ?? "" }
        let most = Int.random(in: 0..<8, using: &random) == 0 ? 128 : Int.random(in: 4...16, using: &random)
        var name = ""
        repeat {
            let piece = pieces.randomElement(using: &random) ?? "a"
            guard name.utf8.count + piece.utf8.count <= most else { break }
            name += piece
        } while Int.random(in: 0..<4, using: &random) > 0 || most == 128
        if most == 128 { name += String(repeating: "a", count: most - name.utf8.count) }
        return name
    }

    /// Draws this many names, no two of the same bytes.
    public static func draw(_ count: Int, using random: inout some RandomNumberGenerator) -> [String] {
        var drawn: Set<[UInt8]> = []
        var names: [String] = []
        while names.count < count {
            let name = draw(using: &random)
            if drawn.insert(Array(name.utf8)).inserted { names.append(name) }
        }
        return names
    }

    private static let pieces = [
        "a", "b", "e", "\u{E9}", "\u{301}", "\u{327}", "\u{200D}", "\u{FE0F}", "\u{1F3FB}", "\u{903}", "\u{20E3}",
        "\u{600}", "\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{1F600}", "\u{1F1E9}", "\u{1100}", "\u{1161}",
        "\u{AC00}", "\u{FF5E}", "\u{10000}", "-", ".", "/", "%", "&", "=", "+", "?", "*", "\"", "\\", ":", "0",
    ]
}
