// Names in paths and queries of the admin port.

import RollcallModel

enum AdminName {
    static func decoded<Kind>(
        _ text: some StringProtocol, _ what: String
    ) throws(AdminProblem) -> Identifier<Kind> {
        guard let name = percentDecoded(text) else {
            throw AdminProblem(.badRequest, "\(what) is not percent-encoded UTF-8")
        }
        do {
            return try Identifier(name)
        } catch {
            throw AdminProblem(.badRequest, "\(what) is not a valid name: \(error)")
        }
    }

    /// Decodes percent-encoding. A plus sign stays a plus sign, because names contain no spaces.
    static func percentDecoded(_ text: some StringProtocol) -> String? {
        // Most names have nothing to decode.
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = hex(rest.popFirst()), let low = hex(rest.popFirst()) else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case let byte? where (0x30...0x39).contains(byte): byte - 0x30
        case let byte? where (0x41...0x46).contains(byte & 0xDF): (byte & 0xDF) - 0x41 + 10
        default: nil
        }
    }
}

/// The parameters of a query, in order. Names and values are percent-encoded.
struct AdminQuery {
    private struct Field {
        /// The raw text if it cannot be decoded.
        var name: String
        var value: Substring?
    }

    private let fields: [Field]

    init(_ query: String?) {
        fields = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { field in
            let name = Substring(field.prefix { $0 != UInt8(ascii: "=") })
            return Field(
                name: AdminName.percentDecoded(name) ?? String(name),
                value: name.endIndex < field.endIndex ? Substring(field[name.endIndex...].dropFirst()) : nil)
        }
    }

    /// Returns all values of the named parameter.
    func names<Kind>(_ name: String) throws(AdminProblem) -> [Identifier<Kind>] {
        var names: [Identifier<Kind>] = []
        for field in fields where field.name.isSame(as: name) {
            if let value = field.value { names.append(try AdminName.decoded(value, "the \(name)")) }
        }
        return names
    }

    /// Returns a numeric parameter; `nil` if it is absent.
    func number<Number: FixedWidthInteger>(
        _ name: String, in range: ClosedRange<Number>
    ) throws(AdminProblem) -> Number? {
        guard let field = fields.first(where: { $0.name.isSame(as: name) }) else { return nil }
        guard let text = field.value.flatMap({ AdminName.percentDecoded($0) }), let number = Number(text),
            range.contains(number)
        else {
            throw AdminProblem(
                .badRequest, "the \(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Rejects every parameter except `allowed`, for requests where a misspelled parameter would change more than
    /// intended.
    func demand(only allowed: String) throws(AdminProblem) {
        if let other = fields.first(where: { !$0.name.isSame(as: allowed) || $0.value == nil }) {
            throw AdminProblem(.badRequest, "unknown parameter \(other.name); only ?\(allowed)= is supported")
        }
    }
}
