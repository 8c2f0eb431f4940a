// Reads JSON values in place. Nothing is built from a text except what is kept: a field is searched for when it is
// requested, and other fields are skipped. If a field occurs more than once, the first one counts.

/// A value in a text that is known to be valid JSON.
///
/// It does not own the text and is valid only as long as those bytes are.
package struct JSONValue {
    let bytes: UnsafeRawBufferPointer
    /// The index at which the value begins.
    let start: Int

    private init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        (self.bytes, self.start) = (bytes, start)
    }

    /// Checks a whole text.
    ///
    /// - Returns: `nil` if the text is not JSON, or not an object.
    package init?(object text: UnsafeRawBufferPointer) {
        guard let start = JSONGrammar.check(text), text[start] == UInt8(ascii: "{") else { return nil }
        self.init(text, at: start)
    }

    var first: UInt8 { bytes[start] }

    package var isNull: Bool { first == UInt8(ascii: "n") }

    package var isText: Bool { first == UInt8(ascii: "\"") }

    package var isObject: Bool { first == UInt8(ascii: "{") }

    /// The text of a string.
    package func text() throws(UnexpectedJSON) -> ByteString {
        guard first == UInt8(ascii: "\"") else { throw UnexpectedJSON("it is no text") }
        guard let text = JSONString(in: bytes, at: start).text else {
            throw UnexpectedJSON("it has half of a surrogate pair")
        }
        return text
    }

    package func truth() throws(UnexpectedJSON) -> Bool {
        switch first {
        case "t": true
        case "f": false
        default: throw UnexpectedJSON("it is neither true nor false")
        }
    }
}

// Objects.
extension JSONValue {
    /// Reads a required field.
    package func field<Value: JSONReadable>(_ name: StaticString) throws(UnexpectedJSON) -> Value {
        guard let value = try value(of: name) else { throw UnexpectedJSON("the field \"\(name)\" is missing") }
        return try value.read(as: name)
    }

    /// Reads a field that may be missing or null.
    package func optionalField<Value: JSONReadable>(_ name: StaticString) throws(UnexpectedJSON) -> Value? {
        guard let value = try value(of: name), !value.isNull else { return nil }
        return try value.read(as: name)
    }

    /// Calls `read` for every field of an object, in the order of the text, also for repeated names.
    package func forEachField(
        _ read: (_ name: ByteString, _ value: JSONValue) throws(UnexpectedJSON) -> Void
    ) throws(UnexpectedJSON) {
        guard first == UInt8(ascii: "{") else { throw UnexpectedJSON("it is no object") }
        var index = bytes.endOfSpace(from: start + 1)
        while bytes[index] != UInt8(ascii: "}") {
            let key = JSONString(in: bytes, at: index)
            let colon = bytes.endOfSpace(from: key.end)
            let value = JSONValue(bytes, at: bytes.endOfSpace(from: colon + 1))
            guard let name = key.text else { throw UnexpectedJSON("a name in it has half of a surrogate pair") }
            try read(name, value)
            index = value.next
        }
    }

    /// Reads a text whose name is not known to the program: the field with this name or, if there is none, inside objects along the
    /// words of the name between its dots.
    ///
    /// - Parameter takesNumbers: Whether a whole number counts as the text of its digits.
    package func text(at path: ByteString, orNumber takesNumbers: Bool = false) -> ByteString? {
        guard first == UInt8(ascii: "{") else { return nil }
        var (whole, inner) = (ByteString?.none, ByteString?.none)
        try? forEachField { name, value in
            if name == path {
                let number = takesNumbers && value.isNumber ? value.wholeNumber.map { ByteString("\($0)") } : nil
                whole = whole ?? (try? value.text()) ?? number
            } else if path.utf8.starts(with: name.utf8), path.utf8.dropFirst(name.utf8.count).first == UInt8(ascii: ".")
            {
                let rest = ByteString(decoding: path.utf8.dropFirst(name.utf8.count + 1))
                inner = inner ?? value.text(at: rest, orNumber: takesNumbers)
            }
        }
        return whole ?? inner
    }

    /// Whether an object has a field, of whatever value.
    package func has(_ name: StaticString) throws(UnexpectedJSON) -> Bool { try value(of: name) != nil }

    private func read<Value: JSONReadable>(as name: StaticString) throws(UnexpectedJSON) -> Value {
        do {
            return try Value(json: self)
        } catch {
            throw UnexpectedJSON("the field \"\(name)\" is wrong: \(error)")
        }
    }

    private func value(of name: StaticString) throws(UnexpectedJSON) -> JSONValue? {
        guard first == UInt8(ascii: "{") else { throw UnexpectedJSON("it is no object") }
        var index = bytes.endOfSpace(from: start + 1)
        while bytes[index] != UInt8(ascii: "}") {
            let key = JSONString(in: bytes, at: index)
            let colon = bytes.endOfSpace(from: key.end)
            let value = JSONValue(bytes, at: bytes.endOfSpace(from: colon + 1))
            if key.is(name) { return value }
            index = value.next
        }
        return nil
    }
}

// Arrays.
extension JSONValue {
    package func list<Element: JSONReadable>() throws(UnexpectedJSON) -> [Element] {
        guard first == UInt8(ascii: "[") else { throw UnexpectedJSON("it is no list") }
        var list: [Element] = []
        var index = bytes.endOfSpace(from: start + 1)
        while bytes[index] != UInt8(ascii: "]") {
            let element = JSONValue(bytes, at: index)
            list.append(try Element(json: element))
            index = element.next
        }
        return list
    }
}

// The extent of a value.
extension JSONValue {
    /// The index after the last byte of the value.
    var end: Int {
        switch first {
        case "\"": JSONString(in: bytes, at: start).end
        case "{", "[": endOfContainer
        default: endOfWord
        }
    }

    /// In a container: the index of the next value or name, or of the container's end.
    private var next: Int {
        let index = bytes.endOfSpace(from: end)
        return bytes[index] == UInt8(ascii: ",") ? bytes.endOfSpace(from: index + 1) : index
    }

    private var endOfContainer: Int {
        var index = start
        var depth = 0
        repeat {
            switch bytes[index] {
            case "\"":
                index = JSONString(in: bytes, at: index).end
                continue
            case "{", "[": depth += 1
            case "}", "]": depth -= 1
            default: break
            }
            index += 1
        } while depth > 0
        return index
    }

    /// The value's text, without space between its tokens.
    package var textWithoutSpace: ByteString {
        let end = end
        var text: [UInt8] = []
        text.reserveCapacity(end - start)
        var index = start
        while index < end {
            let next = bytes[index] == UInt8(ascii: "\"") ? JSONString(in: bytes, at: index).end : index + 1
            if bytes.endOfSpace(from: index) == index { text += bytes[index..<next] }
            index = next
        }
        return ByteString(decoding: text)
    }

    /// How deep arrays and objects are nested, itself included.
    package var depth: Int {
        let end = end
        var (index, depth, most) = (start, 0, 0)
        while index < end {
            switch bytes[index] {
            case "\"":
                index = JSONString(in: bytes, at: index).end
                continue
            case "{", "[":
                depth += 1
                most = max(most, depth)
            case "}", "]": depth -= 1
            default: break
            }
            index += 1
        }
        return most
    }

    /// Checks that every parser can read the value: no text in it has half of a surrogate pair, and every number fits a `Double`.
    package func demandPortable() throws(UnexpectedJSON) {
        let end = end
        var index = start
        while index < end {
            let value = JSONValue(bytes, at: index)
            if value.isText { _ = try value.text() }
            if value.isNumber { _ = try value.number() }
            index = value.isText || value.isNumber ? value.end : index + 1
        }
    }

    /// The end of a number, or of `true`, `false` or `null`.
    private var endOfWord: Int {
        bytes[start...].firstIndex {
            switch $0 {
            case ",", "}", "]", " ", "\n", "\r", "\t": true
            default: false
            }
        } ?? bytes.count
    }
}
