// Passwords, keys and tokens: bytes that must never reach a log, an error or a dump.

/// Secret bytes. Every textual form of the value is the same placeholder.
public struct Secret: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The secret as text, for protocols that need text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Compares in a time that depends only on the lengths, so that timing reveals nothing to an attacker who guesses.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return zip(left.bytes, right.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret {
    /// Whether the secret looks non-random: few different bytes, a repeated pattern, or words used in examples. What is
    /// written in hexadecimal counts as the bytes that it stands for.
    ///
    /// - Parameter distinct: how many different bytes are enough.
    package func isGuessable(below distinct: Int) -> Bool {
        let digits = bytes.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        let isHexadecimal = digits.count == bytes.count
        let pairs = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        if max(Set(bytes).count, isHexadecimal ? Set(pairs).count : 0) < distinct { return true }
        let repeats = (1...max(1, bytes.count / 2)).contains { bytes.dropFirst($0).elementsEqual(bytes.dropLast($0)) }
        let text = text.lowercased()
        return repeats || ["secret", "password", "changeme", "change-me", "example"].contains { text.contains($0) }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<secret>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
