// What of a language's name matters when looking for the nearest: its language, script and region.

/// A BCP 47 tag, or a POSIX locale's name (`de_AT.UTF-8`), as far as it is needed here.
struct LanguageTag: Hashable {
    let language: String
    let script: String?
    let region: String?

    init(_ name: String) {
        let parts = name.prefix { $0 != "." && $0 != "@" }.split { $0 == "-" || $0 == "_" }.map { $0.lowercased() }
        let named = parts.first ?? ""
        language = Self.written[named] ?? named
        region = parts.dropFirst().first { $0.count == 2 || ($0.count == 3 && $0.allSatisfy(\.isNumber)) }
        script =
            parts.dropFirst().first { $0.count == 4 && $0.allSatisfy(\.isLetter) } ?? Self.script(of: named, in: region)
    }

    /// How near this language is to a reader of that one: higher is nearer; `nil`: another language, or written in
    /// another script.
    func nearness(to wanted: LanguageTag) -> Int? {
        guard language == wanted.language else { return nil }
        if let script, let other = wanted.script, script != other { return nil }
        return region == wanted.region ? 2 : region == nil ? 1 : 0
    }

    /// Languages whose readers write another, and the old name of Hebrew.
    private static let written = ["cmn": "zh", "gsw": "de", "iw": "he", "yue": "zh"]

    /// Only Chinese is written in scripts that its regions decide.
    private static func script(of language: String, in region: String?) -> String? {
        switch (language, region) {
        case ("zh", "tw"), ("zh", "hk"), ("zh", "mo"), ("cmn", "tw"): "hant"
        case ("yue", let region): region == "cn" ? "hans" : "hant"
        case ("zh", _), ("cmn", _): "hans"
        default: nil
        }
    }
}
