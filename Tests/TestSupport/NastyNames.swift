// Names that applications may use and that break code which splits, compares, sorts or escapes text carelessly: one
// list for all tests, and a generator of more from a seed.

/// Names of users, devices and conversations that are allowed and unusual: 1–128 bytes of UTF-8 without white space,
/// control characters, `{` or `}`. No two of them have the same bytes.
public enum NastyNames {
    /// Names that merge with a separator before them into one `Character`: a separator and a combining mark are one.
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

    /// Names that merge with a separator after them into one `Character`.
    public static let joiningBehind = [
        "x\u{600}",  // an Arabic number sign precedes its digits
        "\u{110BD}",
    ]

    /// Pairs of different names that Unicode and Swift's `String ==` treat as equal.
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

    /// Names whose UTF-16 order differs from their byte order.
    public static let orderedOtherwise = ["\u{FF5E}", "\u{1F600}", "\u{FFFD}", "\u{10000}"]

    /// Names that have a meaning in JavaScript, JSON, HTTP, URLs, patterns or logs if they are not escaped.
    public static let meaningful = [
        "__proto__", "constructor", "toString", "hasOwnProperty", "null", "true", "0", "-1", "NaN",
        "a/b", "..", "%2F", "a%", "a?b", "a#b", "a&b=c", "a+b", "a;b", "a,b", "a:b", "*", "[a-z]*", "a?", "^a", "-",
        "--help",
        "\"", "\\", "\\u0301", "'", "`id`", "$(id)", "<b>", "&amp;", "a.b", "gone", "device:p", "typing:", "@", "~",
    ]

    /// Names that look like others, are invisible, or change how text is displayed.
    public static let misleading = [
        "\u{202E}ecila", "\u{2066}a\u{2069}", "\u{200F}a", "\u{200B}", "\u{FEFF}", "\u{FEFF}a", "a\u{200D}", "\u{AD}",
        "\u{34F}",
        "\u{FFFE}", "\u{10FFFF}", "\u{E000}", "Alice", "ALICE", "\u{430}lice",
        "\u{1F1E9}", "\u{1F1E9}\u{1F1EA}",  // half a flag, and a flag
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{915}\u{94D}\u{937}",
    ]

    /// All of these names.
    public static let all =
        joiningBefore + joiningBehind + canonicallyEqual.flatMap { [$0, $1] } + longest + orderedOtherwise + meaningful
        + misleading

    /// Draws a name: one from the list, or a combination of pieces, some of the maximum length.
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

    /// Draws this many names, all with different bytes.
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
