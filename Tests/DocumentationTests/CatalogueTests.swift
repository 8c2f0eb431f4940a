// The DocC pages: their links work, and every public symbol has a place.

import Foundation
import TestSupport
import Testing

@Suite("The documentation")
struct CatalogueTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test(
        "builds without warnings, and has a place for every public symbol",
        .enabled("this toolchain has docc") { try await isInstalled() })
    func isMade() async throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID())")
        defer { try? FileManager.default.removeItem(at: output) }
        let script = Self.package.appending(path: "scripts/document").path
        let document = try ChildProcess(["sh", script, output.path] + Self.build)
        let code = try await document.exitCode(within: .seconds(300))
        try await eventually("what it said is read") { document.outputEnded }
        #expect(code == 0, "\(document.output)\(document.errors)")
        #expect(FileManager.default.fileExists(atPath: output.appending(path: "index.html").path))
    }

    /// The path of the build, if it is not the usual one.
    private static var build: [String] {
        let besideTests = Bundle.main.bundleURL
        let hasModules = FileManager.default.fileExists(atPath: besideTests.appending(path: "Modules").path)
        return hasModules ? [besideTests.path] : []
    }

    /// Whether this toolchain contains docc.
    @Sendable private static func isInstalled() async throws -> Bool {
        let search = try ChildProcess(["sh", "-c", "command -v docc || xcrun --find docc"])
        return try await search.exitCode() == 0
    }
}
