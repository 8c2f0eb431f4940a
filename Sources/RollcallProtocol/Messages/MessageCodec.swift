// Converts messages to text and back, for both ends of a connection. Fields are in alphabetical order, so that equal
// messages have equal bytes.

/// Encodes and decodes messages as JSON.
public struct MessageCodec: Sendable {
    public init() {}

    /// Reads a client's message.
    ///
    /// - Throws: ``MessageError`` for an object that is not a valid message; ``NotJSON`` for text that is not a JSON
    ///   object.
    public func request(from json: UnsafeRawBufferPointer) throws -> ClientRequest {
        guard let json = JSONValue(object: json) else { throw NotJSON() }
        return try ClientRequest(json: json)
    }

    /// Reads a worker's message.
    ///
    /// - Throws: ``UnexpectedJSON`` if the text is not a valid message, or its type is unknown to this version.
    public func message(from json: UnsafeRawBufferPointer) throws(UnexpectedJSON) -> ServerMessage {
        try ServerMessage(jsonText: json)
    }

    public func json(of request: ClientRequest) -> [UInt8] { request.jsonText }

    public func json(of message: ServerMessage) -> [UInt8] { message.jsonText }

    /// The text of a frame is not a JSON object.
    public struct NotJSON: Error, Hashable, Sendable {}
}

// For bytes that are not contiguous in memory.
extension MessageCodec {
    public func request(from json: some Sequence<UInt8>) throws -> ClientRequest {
        try json.withBytes { try request(from: $0) }
    }

    public func message(from json: some Sequence<UInt8>) throws -> ServerMessage {
        try ServerMessage(jsonText: json)
    }
}
