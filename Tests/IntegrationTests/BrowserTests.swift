// The module for browsers, in a real one: Tests/Browser, by pytest and headless Chromium, from a venv of its own.

import Foundation
import Harness
import RollcallBrowser
import TestSupport
import Testing

@Suite("In a browser")
struct BrowserTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test("C6: the module behaves as the Swift client does")
    func behaves() async throws {
        let script = Self.package.appending(path: "Tests/browser.sh").path
        let browser = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run fetches the packages.
        let code = try await browser.exitCode(within: .seconds(600))
        try await eventually("what it said is read") { browser.outputEnded }
        #expect(code == 0, "\(browser.output)\(browser.errors)")
    }

    @Test("C6: a server has the module and its types at hand, as they stand in the sources", arguments: BrowserFile.all)
    func files(file: BrowserFile) throws {
        let source = Self.package.appending(path: "Sources/RollcallBrowser/Module/\(file.name)")
        #expect(try Data(contentsOf: source) == Data(file.bytes))
        #expect(file.contentType.hasSuffix("charset=utf-8"))
    }
}
