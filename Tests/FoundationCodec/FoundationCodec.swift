// Messages read and written by somebody else's hand: Foundation's coders, from descriptions of their own. What the
// model's codec makes of a text is compared with it.

internal import Foundation
public import RollcallModel

public enum FoundationCodec {
    /// - Throws: `MessageError`, or `DecodingError` for what is no object.
    public static func request(from json: [UInt8]) throws -> ClientRequest {
        try JSONDecoder().decode(ClientRequest.self, from: Data(json))
    }

    public static func read<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json))
    }

    public static func json(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
