// Text of messages and back, for either end of a connection. Fields stand in alphabetical order, so that the same
// message is always the same bytes.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Turns messages into JSON and JSON into messages.
public struct MessageCodec: Sendable {
    public init() {}

    /// Reads a client's message.
    ///
    /// - Throws: ``MessageError`` for an object that is no message, ``NotJSON`` for text that is no JSON object.
    public func request(from json: Data) throws -> ClientRequest {
        do {
            return try JSONDecoder().decode(ClientRequest.self, from: json)
        } catch is DecodingError {
            throw NotJSON()
        }
    }

    /// Reads a worker's message.
    ///
    /// - Throws: `DecodingError` for what is none, or of a type that this version does not know.
    public func message(from json: Data) throws -> ServerMessage {
        try JSONDecoder().decode(ServerMessage.self, from: json)
    }

    public func json(of request: ClientRequest) -> Data { encoded(request) }

    public func json(of message: ServerMessage) -> Data { encoded(message) }

    private func encoded(_ message: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(message)
        } catch {
            // Only a NaN or an infinity cannot be encoded, and a message's one floating-point number was read from
            // JSON, which has neither.
            preconditionFailure("a message that cannot be encoded: \(error)")
        }
    }

    /// The text of a frame was no JSON object.
    public struct NotJSON: Error, Hashable, Sendable {}
}
