// The grammar of RFC 8259, rule by rule and as simply as possible, so that its correctness can be checked by reading.
// Slow and recursive.

/// Decides whether bytes are JSON.
public struct StrictJSON {
    private var rest: Substring.UnicodeScalarView

    /// - Returns: whether the bytes are a JSON object.
    public static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : Array(bytes)
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        var json = StrictJSON(rest: text[...].unicodeScalars)
        json.space()
        return json.rest.first == "{" && json.value(depth: 0) && json.rest.isEmpty
    }

    private mutating func value(depth: Int) -> Bool {
        space()
        defer { space() }
        switch rest.first {
        case "{":
            return depth < 512 && sequence(from: "{", to: "}") { $0.member(depth: depth + 1) }
        case "[":
            return depth < 512 && sequence(from: "[", to: "]") { $0.value(depth: depth + 1) }
        case "\"": return string()
        case "t": return "true".unicodeScalars.allSatisfy { take($0) }
        case "f": return "false".unicodeScalars.allSatisfy { take($0) }
        case "n": return "null".unicodeScalars.allSatisfy { take($0) }
        default: return number()
        }
    }

    private mutating func sequence(
        from opening: Unicode.Scalar, to closing: Unicode.Scalar, of element: (inout StrictJSON) -> Bool
    ) -> Bool {
        guard take(opening) else { return false }
        space()
        if take(closing) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(",")
        return take(closing)
    }

    private mutating func member(depth: Int) -> Bool {
        space()
        guard string() else { return false }
        space()
        return take(":") && value(depth: depth)
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while !take("\"") {
            if take("\\") {
                guard escape() else { return false }
            } else {
                guard let scalar = rest.popFirst(), scalar >= " " else { return false }
            }
        }
        return true
    }

    private mutating func escape() -> Bool {
        guard let sign = rest.popFirst() else { return false }
        guard sign == "u" else { return "\"\\/bfnrt".unicodeScalars.contains(sign) }
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.count == 4 && digits.allSatisfy { "0123456789abcdefABCDEF".unicodeScalars.contains($0) }
    }

    private mutating func number() -> Bool {
        _ = take("-")
        guard take("0") || digits() else { return false }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest[digits.endIndex...]
        return !digits.isEmpty
    }

    private mutating func space() {
        rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }
}
