// Checks in one pass whether a text is JSON, without recursion and nearly always without allocations, since the texts
// come from untrusted senders. Code that reads the text afterwards can rely on its syntax.

/// The grammar of RFC 8259: UTF-8, nothing besides the one value except white space, and no extensions.
///
/// A leading byte order mark is skipped, as the RFC permits. Half of a surrogate pair in an escape is allowed by the
/// grammar; reading that string as text fails.
struct JSONGrammar {
    /// The maximum nesting of arrays and objects. Messages need three levels; the rest is for unknown fields of later
    /// versions.
    static let deepest = 512

    private struct Violation: Error {}

    private let text: UnsafeRawBufferPointer
    private var index = 0
    private var open = OpenContainers()

    private init(_ text: UnsafeRawBufferPointer) {
        self.text = text
    }

    /// Checks a whole text.
    ///
    /// - Returns: the index at which its value begins; `nil` if the text is not JSON.
    static func check(_ text: UnsafeRawBufferPointer) -> Int? {
        var grammar = JSONGrammar(text)
        do throws(Violation) {
            return try grammar.passText()
        } catch {
            return nil
        }
    }

    private mutating func passText() throws(Violation) -> Int {
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { index = 3 }
        passSpace()
        let start = index
        try passValue()
        passSpace()
        guard index == text.count else { throw Violation() }
        return start
    }

    /// Passes a value and everything in it, with one iteration for each value that contains no others.
    private mutating func passValue() throws(Violation) {
        repeat {
            passSpace()
            switch next {
            case "{":
                try enter(.object)
                if next != UInt8(ascii: "}") {
                    try passName()
                    continue
                }
            case "[":
                try enter(.array)
                if next != UInt8(ascii: "]") { continue }
            case "\"": try passString()
            case "-", "0"..."9": try passNumber()
            case "t": try passWord("true")
            case "f": try passWord("false")
            case "n": try passWord("null")
            default: throw Violation()
            }
            try passEnds()
        } while !open.isEmpty
    }

    private mutating func enter(_ container: OpenContainers.Kind) throws(Violation) {
        guard open.count < Self.deepest else { throw Violation() }
        open.append(container)
        index += 1
        passSpace()
    }

    /// After a value: passes the ends of containers, and what precedes the next value.
    private mutating func passEnds() throws(Violation) {
        while let container = open.last {
            passSpace()
            if take(",") {
                passSpace()
                if container == .object { try passName() }
                return
            }
            guard take(container == .object ? "}" : "]") else { throw Violation() }
            open.removeLast()
        }
    }

    private mutating func passName() throws(Violation) {
        try passString()
        passSpace()
        guard take(":") else { throw Violation() }
    }
}

// Values that contain no other values.
extension JSONGrammar {
    private mutating func passString() throws(Violation) {
        guard take("\"") else { throw Violation() }
        while true {
            switch next {
            case "\"":
                index += 1
                return
            case "\\": try passEscape()
            case 0x20...0x7F: index += 1
            case 0x80...: try passCharacter()
            default: throw Violation()  // A control character, or the end of the text.
            }
        }
    }

    private mutating func passEscape() throws(Violation) {
        index += 1
        switch next {
        case "\"", "\\", "/", "b", "f", "n", "r", "t": index += 1
        case "u":
            index += 1
            for _ in 0..<4 {
                guard next.hexadecimalValue != nil else { throw Violation() }
                index += 1
            }
        default: throw Violation()
        }
    }

    /// Passes a character of more than one byte of UTF-8.
    private mutating func passCharacter() throws(Violation) {
        var bytes = text[index...].makeIterator()
        var parser = UTF8.ForwardParser()
        guard case .valid(let character) = parser.parseScalar(from: &bytes) else { throw Violation() }
        index += character.count
    }

    private mutating func passNumber() throws(Violation) {
        take("-")
        if !take("0") { try passDigits() }
        if take(".") { try passDigits() }
        if take("e") || take("E") {
            if !take("+") { take("-") }
            try passDigits()
        }
    }

    private mutating func passDigits() throws(Violation) {
        guard next.isDigit else { throw Violation() }
        repeat { index += 1 } while next.isDigit
    }

    private mutating func passWord(_ word: StaticString) throws(Violation) {
        guard text.holds(word, at: index) else { throw Violation() }
        index += word.utf8CodeUnitCount
    }

    private mutating func passSpace() {
        index = text.endOfSpace(from: index)
    }

    /// The next byte. At the end of the text NUL, which is not valid in JSON.
    private var next: UInt8 { index < text.count ? text[index] : 0 }

    /// Passes this character if it is the next.
    @discardableResult
    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: sign) else { return false }
        index += 1
        return true
    }
}
