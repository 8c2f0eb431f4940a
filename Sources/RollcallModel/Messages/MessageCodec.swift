// Text of messages and back, for either end of a connection. Fields stand in alphabetical order, so that the same
// message is always the same bytes.

/// Turns messages into JSON and JSON into messages.
public struct MessageCodec: Sendable {
    public init() {}

    /// Reads a client's message.
    ///
    /// - Throws: ``MessageError`` for an object that is no message, ``NotJSON`` for text that is no JSON object.
    public func request(from json: UnsafeRawBufferPointer) throws -> ClientRequest {
        guard let json = JSONValue(object: json) else { throw NotJSON() }
        return try ClientRequest(json: json)
    }

    /// Reads a worker's message.
    ///
    /// - Throws: ``UnexpectedJSON`` for what is none, or of a type that this version does not know.
    public func message(from json: UnsafeRawBufferPointer) throws(UnexpectedJSON) -> ServerMessage {
        try ServerMessage(jsonText: json)
    }

    public func json(of request: ClientRequest) -> [UInt8] { request.jsonText }

    public func json(of message: ServerMessage) -> [UInt8] { message.jsonText }

    /// The text of a frame was no JSON object.
    public struct NotJSON: Error, Hashable, Sendable {}
}

// Where the bytes are not at hand.
extension MessageCodec {
    public func request(from json: some Sequence<UInt8>) throws -> ClientRequest {
        try json.withBytes { try request(from: $0) }
    }

    public func message(from json: some Sequence<UInt8>) throws -> ServerMessage {
        try ServerMessage(jsonText: json)
    }
}
