// What can be written as JSON. Messages say how beside where they are described; here are the kinds of their fields.

package protocol JSONWritable {
    func write(to json: inout JSONWriter)
}

extension JSONWritable {
    /// How many bytes its text has.
    package var jsonSize: Int {
        var json = JSONWriter(nil)
        write(to: &json)
        return json.count
    }

    /// Writes its text to memory of at least ``jsonSize`` bytes.
    ///
    /// - Returns: how many bytes were written.
    @discardableResult
    package func writeJSON(to memory: UnsafeMutableRawBufferPointer) -> Int {
        var json = JSONWriter(memory)
        write(to: &json)
        return json.count
    }

    /// Its text.
    package var jsonText: [UInt8] {
        let size = jsonSize
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            count = writeJSON(to: UnsafeMutableRawBufferPointer(bytes))
        }
    }
}

extension Bool: JSONWritable {
    package func write(to json: inout JSONWriter) { json.word(self ? "true" : "false") }
}

extension Int64: JSONWritable {
    package func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Int: JSONWritable {
    package func write(to json: inout JSONWriter) { json.integer(Int64(self)) }
}

extension String: JSONWritable {
    package func write(to json: inout JSONWriter) { json.text(self) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to json: inout JSONWriter) { json.list(self) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    package func write(to json: inout JSONWriter) {
        if let self { self.write(to: &json) } else { json.word("null") }
    }
}

extension JSONWritable where Self: RawRepresentable<String> {
    package func write(to json: inout JSONWriter) { json.text(rawValue) }
}

extension DeviceState: JSONWritable {}
extension PresenceStatus: JSONWritable {}

extension Identifier: JSONWritable {
    package func write(to json: inout JSONWriter) { json.text(text) }
}

extension Timestamp: JSONWritable {
    package func write(to json: inout JSONWriter) { json.integer(milliseconds) }
}
