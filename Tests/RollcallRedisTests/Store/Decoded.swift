import RollcallModel

/// What a published payload says.
func decoded<Value: JSONReadable>(_ type: Value.Type, _ payload: String) throws -> Value {
    try Value(jsonText: payload.utf8)
}
