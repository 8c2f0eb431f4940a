/// A text is not a JSON object, or not the one that was expected.
public struct UnexpectedJSON: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence that names the field.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
