// Types that can be written as JSON. Messages implement this in their own files; the types of their fields are here.

package protocol JSONWritable {
    func write(to json: inout JSONWriter)
}

extension JSONWritable {
    /// The length of the JSON text in bytes.
    package var jsonSize: Int {
        var json = JSONWriter(nil)
        write(to: &json)
        return json.count
    }

    /// Writes the JSON text to memory of at least ``jsonSize`` bytes.
    ///
    /// - Returns: the number of bytes written.
    @discardableResult
    package func writeJSON(to memory: UnsafeMutableRawBufferPointer) -> Int {
        var json = JSONWriter(memory)
        write(to: &json)
        return json.count
    }

    /// The JSON text.
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

extension ByteString: JSONWritable {
    package func write(to json: inout JSONWriter) { json.text(string) }
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
extension Availability: JSONWritable {}

extension Identifier: JSONWritable {
    package func write(to json: inout JSONWriter) { json.text(text) }
}

extension Timestamp: JSONWritable {
    package func write(to json: inout JSONWriter) { json.integer(milliseconds) }
}
