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
            throw AdminProblem(.badRequest, "\(what) has a wrong name: \(error)")
        }
    }

    /// The text that a percent-encoded one stands for. A plus is a plus: no name has a blank to be written as one.
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
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}

/// The parameters of a query, in their order. Both sides of each are percent-encoded.
struct AdminQuery {
    private struct Field {
        /// As it was written, if it cannot be decoded.
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

    /// All that are called so.
    func names<Kind>(_ name: String) throws(AdminProblem) -> [Identifier<Kind>] {
        var names: [Identifier<Kind>] = []
        for field in fields where field.name == name {
            if let value = field.value { names.append(try AdminName.decoded(value, "the \(name)")) }
        }
        return names
    }

    /// Where a slip of the pen would do more than was meant, nothing but `allowed` may be said.
    func demand(only allowed: String) throws(AdminProblem) {
        if let other = fields.first(where: { $0.name != allowed || $0.value == nil }) {
            throw AdminProblem(.badRequest, "there is no ?\(other.name) here, only ?\(allowed)=")
        }
    }
}
