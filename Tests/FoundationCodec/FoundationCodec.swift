// Messages read and written with an independent implementation: Foundation's coders with separate descriptions. The
// model's codec is compared with it.

internal import Foundation
public import RollcallModel

public enum FoundationCodec {
    /// - Throws: `MessageError`, or `DecodingError` for text that is not an object.
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
