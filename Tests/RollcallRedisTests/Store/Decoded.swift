import Foundation

/// What a published payload says.
func decoded<Value: Decodable>(_ type: Value.Type, _ payload: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(payload.utf8))
}
