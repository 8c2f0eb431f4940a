// Numbers. JSON does not distinguish integers from other numbers: 3000, 3000.0 and 3e3 are equal. So a number counts as
// an integer by its value, which is computed exactly.

extension JSONValue {
    var isNumber: Bool { first == UInt8(ascii: "-") || first.isDigit }

    package func integer() throws(UnexpectedJSON) -> Int64 {
        guard isNumber else { throw UnexpectedJSON("it is no number") }
        guard let integer = wholeNumber else { throw UnexpectedJSON("it is no whole number, or too large a one") }
        return integer
    }

    /// The nearest `Double`.
    package func number() throws(UnexpectedJSON) -> Double {
        guard isNumber else { throw UnexpectedJSON("it is no number") }
        guard let number = Double(String(decoding: bytes[start..<end], as: UTF8.self)), number.isFinite else {
            throw UnexpectedJSON("it is too large a number")
        }
        return number
    }

    /// The number, if it is an integer and fits into `Int64`.
    var wholeNumber: Int64? {
        let isNegative = first == UInt8(ascii: "-")
        let digits = UnsafeRawBufferPointer(rebasing: bytes[(isNegative ? start + 1 : start)..<end])
        guard let magnitude = Decimal(digits).wholeNumber else { return nil }
        guard isNegative else { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
}

/// A number without its sign: digits, and the power of ten with which to multiply them. The last digit is not zero, so
/// the number is an integer exactly if the power is not negative.
private struct Decimal {
    /// `nil` if the digits do not fit.
    private var digits: UInt64? = 0
    private var power = 0

    init(_ written: UnsafeRawBufferPointer) {
        var fraction: Int?
        for index in written.indices {
            switch written[index] {
            case "0"..."9":
                append(written[index] - UInt8(ascii: "0"))
                fraction = fraction.map { $0 + 1 }
            case ".": fraction = 0
            default:  // E or e
                power += Self.exponent(UnsafeRawBufferPointer(rebasing: written[(index + 1)...])) - (fraction ?? 0)
                return
            }
        }
        power -= fraction ?? 0
    }

    /// Appends a digit. Trailing zeros only raise the power until another digit follows.
    private mutating func append(_ digit: UInt8) {
        guard digit > 0 else {
            power += 1
            return
        }
        if let tens = digits.flatMap({ Self.product($0, tenTo: power + 1) }) {
            let (sum, overflows) = tens.addingReportingOverflow(UInt64(digit))
            digits = overflows ? nil : sum
        } else {
            digits = nil
        }
        power = 0
    }

    /// Reads an exponent. It is capped at a value that no text has enough digits to compensate.
    private static func exponent(_ written: UnsafeRawBufferPointer) -> Int {
        var exponent = 0
        for byte in written where byte.isDigit {
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), Int(Int32.max))
        }
        return written.first == UInt8(ascii: "-") ? -exponent : exponent
    }

    var wholeNumber: UInt64? {
        guard digits != 0 else { return 0 }
        guard power >= 0 else { return nil }
        return digits.flatMap { Self.product($0, tenTo: power) }
    }

    private static func product(_ number: UInt64, tenTo power: Int) -> UInt64? {
        var product = number
        guard product > 0 else { return 0 }
        for _ in 0..<power {
            let (next, overflows) = product.multipliedReportingOverflow(by: 10)
            guard !overflows else { return nil }
            product = next
        }
        return product
    }
}
