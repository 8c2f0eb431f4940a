// An app imports `RollcallClient` alone: the identifiers, presence and close codes of the model come with it.

@_exported public import RollcallModel

extension Identifier: ExpressibleByStringLiteral {
    /// A name written in the source: `"c42"`. A name that comes from elsewhere is checked by ``Identifier/init(_:)``.
    ///
    /// - Precondition: the literal keeps the rules of names.
    public init(stringLiteral text: StaticString) {
        do {
            try self.init(text.description)
        } catch {
            preconditionFailure("\"\(text)\" is no identifier: \(error)")
        }
    }
}
