// Apps import only `RollcallClient`: the identifiers, presence and close codes of `RollcallProtocol` are exported with it.

@_exported public import RollcallProtocol

extension Identifier: ExpressibleByStringLiteral {
    /// Creates an identifier from a literal: `"c42"`. For text that is not a literal, use the throwing
    /// ``Identifier/init(_:)``.
    ///
    /// - Precondition: the literal is a valid identifier; otherwise the program stops.
    public init(stringLiteral text: StaticString) {
        do {
            try self.init(text.description)
        } catch {
            preconditionFailure("\"\(text)\" is no identifier: \(error)")
        }
    }
}
