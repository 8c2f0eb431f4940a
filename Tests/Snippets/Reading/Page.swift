// A page is Markdown with fenced Swift code, or a whole Swift file, as in the steps of a tutorial.

/// The Swift code of one page.
package struct Page {
    package let snippets: [Snippet]

    /// - Throws: ``UnreadablePage`` for a fence that would be overlooked.
    package init(_ text: String, path: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        snippets =
            path.hasSuffix(".swift")
            ? [Snippet(lines, path: path, line: 1)] : try Self.fences(in: lines, path: path)
    }

    /// The file to compile. Its snippets see each other's declarations, like a reader who reads from top to bottom.
    package var code: String {
        let imports = Set(snippets.flatMap(\.imports)).sorted().flatMap(\.code)
        let head = ["// The Swift of a page of documentation.", ""] + imports + ["", "private struct Page {"]
        return (head + snippets.flatMap(\.code) + ["}", ""]).joined(separator: "\n")
    }

    private static func fences(in lines: [String], path: String) throws -> [Snippet] {
        var snippets: [Snippet] = []
        var open: (first: Int, isSwift: Bool)?
        for (index, line) in lines.enumerated() where line.drop(while: \.isWhitespace).hasPrefix("```") {
            if let fence = open {
                let inside = Array(lines[fence.first..<index])
                if fence.isSwift { snippets.append(Snippet(inside, path: path, line: fence.first + 1)) }
                open = nil
            } else if line.contains("swift"), line != "```swift" {
                throw UnreadablePage(path: path, line: index + 1, problem: "write ```swift, and nothing around it")
            } else {
                open = (index + 1, line == "```swift")
            }
        }
        if let open { throw UnreadablePage(path: path, line: open.first, problem: "the fence is never closed") }
        return snippets
    }
}

/// Why a page's snippets cannot be found.
package struct UnreadablePage: Error, CustomStringConvertible {
    let path: String
    let line: Int
    let problem: String

    package var description: String { "\(path):\(line): error: \(problem)" }
}
