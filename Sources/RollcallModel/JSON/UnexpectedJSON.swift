/// A text that is no JSON object, or another one than its reader looks for.
public struct UnexpectedJSON: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence that names the field.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
