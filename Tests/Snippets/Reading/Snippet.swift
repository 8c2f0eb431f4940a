// Declarations are compiled unchanged, so that the models and tests in them are real ones; statements become the body
// of a function. `Tests/DocumentationTests/Surroundings.swift` declares what snippets use without declaring it.

/// One fence of Swift code, or one file.
package struct Snippet {
    private let lines: [String]
    private let path: String
    /// The line of its page at which it begins.
    private let line: Int

    init(_ lines: [String], path: String, line: Int) {
        (self.lines, self.path, self.line) = (lines, path, line)
    }

    var imports: [Import] { lines.compactMap(Import.init) + [.client] }

    /// The part that goes into the page's scope. Blank lines replace imports.
    var code: [String] {
        let inside = lines.map { Import($0) == nil ? $0 : "" }
        let located = ["#sourceLocation(file: \"\(path)\", line: \(line))"] + inside + ["#sourceLocation()"]
        let scoped = isDeclaration ? located : ["@MainActor func line\(line)() async throws {"] + located + uses + ["}"]
        return imports.compactMap(\.condition).reduce(scoped) { [$1] + $0 + ["#endif"] }
    }

    private var isDeclaration: Bool {
        let first = lines.first { !$0.isEmpty && !$0.hasPrefix("//") && Import($0) == nil } ?? ""
        return Self.declarations.contains { first.hasPrefix($0) }
    }

    /// Uses each variable once, so that the compiler does not report it as unused.
    private var uses: [String] {
        lines.filter { $0.hasPrefix("let ") || $0.hasPrefix("var ") }.map { line in
            "_ = \(line.dropFirst(4).prefix { $0.isLetter || $0.isNumber })"
        }
    }

    private static let declarations = ["@", "actor ", "enum ", "final class ", "func ", "private ", "struct "]
}

/// A line that imports a module.
struct Import: Hashable, Comparable {
    static let client = Import(module: "RollcallClient")

    private let module: String

    private init(module: String) { self.module = module }

    init?(_ line: String) {
        guard line.hasPrefix("import ") else { return nil }
        module = String(line.dropFirst(7).prefix { $0 != " " })
    }

    /// The condition for modules that are not available on every platform; the code is only parsed where they are
    /// missing. All other modules must be available.
    var condition: String? {
        ["Network", "PackageDescription", "SwiftUI", "UIKit"].contains(module) ? "#if canImport(\(module))" : nil
    }

    var code: [String] { condition.map { [$0, "import \(module)", "#endif"] } ?? ["import \(module)"] }

    static func < (left: Import, right: Import) -> Bool { left.module < right.module }
}
