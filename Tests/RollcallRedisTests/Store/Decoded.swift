import RollcallModel

/// Decodes a published payload.
func decoded<Value: JSONReadable>(_ type: Value.Type, _ payload: String) throws -> Value {
    try Value(jsonText: payload.utf8)
}
