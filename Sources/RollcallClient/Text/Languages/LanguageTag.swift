// The parts of a language tag that are used to find the best match: language, script and region.

/// The relevant parts of a BCP 47 tag or a POSIX locale name (`de_AT.UTF-8`), in lower case.
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

    /// Returns how well this language suits a reader of `wanted`; higher is better. `nil` if the language or the script
    /// differs.
    func nearness(to wanted: LanguageTag) -> Int? {
        guard language == wanted.language else { return nil }
        if let script, let other = wanted.script, script != other { return nil }
        return region == wanted.region ? 2 : region == nil ? 1 : 0
    }

    /// Languages whose readers read another written language, and the old code of Hebrew.
    private static let written = ["cmn": "zh", "gsw": "de", "iw": "he", "yue": "zh"]

    /// Returns the script that a region implies. That is known only for Chinese.
    private static func script(of language: String, in region: String?) -> String? {
        switch (language, region) {
        case ("zh", "tw"), ("zh", "hk"), ("zh", "mo"), ("cmn", "tw"): "hant"
        case ("yue", let region): region == "cn" ? "hans" : "hant"
        case ("zh", _), ("cmn", _): "hans"
        default: nil
        }
    }
}
