// Reads a device's record in place. For most devices only the state matters, so nothing else is converted.

/// The words of a device's record, valid as long as its bytes are. Words after the sixth are from later versions.
package struct DeviceWords {
    /// `nil` for a device that is gone.
    package let state: DeviceState?
    package let incarnation: UnsafeRawBufferPointer
    /// The two halves of the SESSION word.
    let began: Int64
    let random: UnsafeRawBufferPointer
    let sequence: Int64
    let since: Int64
    let lost: Int64

    /// - Returns: `nil` if this is not a record, because a word is missing or a number is invalid.
    package init?(_ record: UnsafeRawBufferPointer) {
        var rest = record[...]
        guard let state = rest.takeWord(), !state.isEmpty, let incarnation = rest.takeWord(),
            var session = rest.takeWord()?[...], let began = session.take(before: "-"),
            let sequence = rest.takeWord(), let since = rest.takeWord(), let lost = rest.takeWord(),
            let began = Int64(decimal: began), let sequence = Int64(decimal: sequence),
            let since = Int64(decimal: since), let lost = Int64(decimal: lost)
        else { return nil }
        self.state = Self.state(state)
        (self.incarnation, self.began, self.sequence) = (incarnation, began, sequence)
        (self.since, self.lost) = (since, lost)
        random = UnsafeRawBufferPointer(rebasing: session)
    }

    private static func state(_ word: UnsafeRawBufferPointer) -> DeviceState? {
        if word.spells("active") { return .active }
        if word.spells("idle") { return .idle }
        return word.spells("gone") ? nil : .background
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Removes and returns the bytes before the next space, or the rest; `nil` if nothing is left.
    mutating func takeWord() -> UnsafeRawBufferPointer? {
        guard !isEmpty else { return nil }
        if let word = take(before: " ") { return word }
        defer { self = self[endIndex...] }
        return UnsafeRawBufferPointer(rebasing: self)
    }

    /// Removes and returns the bytes before the next such character, and removes that character.
    fileprivate mutating func take(before sign: Unicode.Scalar) -> UnsafeRawBufferPointer? {
        guard let end = firstIndex(of: UInt8(ascii: sign)) else { return nil }
        defer { self = self[(end + 1)...] }
        return UnsafeRawBufferPointer(rebasing: self[..<end])
    }
}

extension Int64 {
    /// Reads a decimal integer as Redis and the scripts write it, ``bounded``.
    ///
    /// - Returns: `nil` if the text is no number.
    package init?(decimal text: ByteString) {
        var text = text.string
        guard let number = text.withUTF8({ Int64(decimal: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = number
    }

    package init?(decimal bytes: UnsafeRawBufferPointer) {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = isNegative ? bytes.dropFirst() : bytes[...]
        guard !digits.isEmpty else { return nil }
        self = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            let value = Int64(digit - UInt8(ascii: "0"))
            self = (self * 10 + (isNegative ? -value : value)).bounded
        }
    }
}

extension Int {
    /// As that of `Int64`.
    package init?(decimal text: ByteString) {
        guard let number = Int64(decimal: text) else { return nil }
        self.init(number)
    }
}
