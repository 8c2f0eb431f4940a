// Runs Tests/Browser: the browser module in headless Chromium, by pytest in its own virtual environment.

import Foundation
import Harness
import RollcallBrowser
import TestSupport
import Testing

@Suite("The browser module in Chromium")
struct BrowserTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test("the module behaves like the Swift client")
    func behaves() async throws {
        let script = Self.package.appending(path: "Tests/browser.sh").path
        let browser = try ChildProcess(["sh", script], environment: ["ROLLCALL": RollcallProgram.path])
        // The first run downloads the packages.
        let code = try await browser.exitCode(within: .seconds(600))
        try await eventually("its output is read") { browser.outputEnded }
        #expect(code == 0, "\(browser.output)\(browser.errors)")
    }

    @Test("the module and its types are served as they are in the sources", arguments: BrowserFile.all)
    func files(file: BrowserFile) throws {
        let source = Self.package.appending(path: "Sources/RollcallBrowser/Module/\(file.name)")
        #expect(try Data(contentsOf: source) == Data(file.bytes))
        #expect(file.contentType.hasSuffix("charset=utf-8"))
    }
}
