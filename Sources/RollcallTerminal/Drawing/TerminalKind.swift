// What a terminal can do, by its environment.

/// How to write to standard output.
package struct TerminalKind: Hashable, Sendable {
    /// Whether lines can be drawn over.
    package let canDraw: Bool
    package let usesColours: Bool

    /// - Parameters:
    ///   - isTerminal: whether a terminal is there at all, rather than a file or a pipe.
    ///   - environment: of which `TERM` and [`NO_COLOR`](https://no-color.org) count.
    package init(isTerminal: Bool, environment: [String: String]) {
        let name = environment["TERM"] ?? ""
        canDraw = isTerminal && name != "dumb" && !name.isEmpty
        usesColours = canDraw && (environment["NO_COLOR"] ?? "").isEmpty
    }

    package var painter: Painter { Painter(usesColours: usesColours) }
}
