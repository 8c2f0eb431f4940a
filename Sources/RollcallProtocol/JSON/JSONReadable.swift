// Types that can be read from JSON. Messages implement this in their own files; the types of their fields are here.

/// A type that can be read from JSON. Unknown fields are ignored.
package protocol JSONReadable {
    init(json: JSONValue) throws(UnexpectedJSON)
}

extension JSONReadable {
    /// Reads a text, which must be a JSON object.
    package init(jsonText text: UnsafeRawBufferPointer) throws(UnexpectedJSON) {
        guard let json = JSONValue(object: text) else { throw UnexpectedJSON("the text is no JSON object") }
        try self.init(json: json)
    }

    package init(jsonText text: some Sequence<UInt8>) throws {
        self = try text.withBytes { try Self(jsonText: $0) }
    }
}

extension Bool: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self = try json.truth() }
}

extension Int64: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self = try json.integer().bounded }
}

extension Int: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(try Int64(json: json))
    }
}

extension Double: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self = try json.number() }
}

extension ByteString: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self = try json.text() }
}

extension Array: JSONReadable where Element: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self = try json.list() }
}

extension JSONReadable where Self: RawRepresentable<String> {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let word = try json.text()
        guard let value = Self(word: word) else { throw UnexpectedJSON("\"\(word.excerpt)\" is not known") }
        self = value
    }
}

extension DeviceState: JSONReadable {}
extension PresenceStatus: JSONReadable {}
extension Availability: JSONReadable {}

extension Identifier: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let text = try json.text()
        do {
            try self.init(text)
        } catch {
            throw UnexpectedJSON("\(error)")
        }
    }
}

extension Timestamp: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) { self.init(milliseconds: try Int64(json: json)) }
}

// MARK: Errors

/// A text is not a JSON object, or not the one that was expected.
public struct UnexpectedJSON: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence that names the field.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
