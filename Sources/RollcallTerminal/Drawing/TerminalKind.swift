// What a terminal supports, by its environment.

/// How to write to standard output.
package struct TerminalKind: Hashable, Sendable {
    /// Whether lines can be overwritten.
    package let canDraw: Bool
    package let usesColours: Bool

    /// - Parameters:
    ///   - isTerminal: whether the output is a terminal and not a file or a pipe.
    ///   - environment: `TERM` and [`NO_COLOR`](https://no-color.org) are used.
    package init(isTerminal: Bool, environment: [String: String]) {
        let name = environment["TERM"] ?? ""
        canDraw = isTerminal && name != "dumb" && !name.isEmpty
        usesColours = canDraw && (environment["NO_COLOR"] ?? "").isEmpty
    }

    package var painter: Painter { Painter(usesColours: usesColours) }
}
