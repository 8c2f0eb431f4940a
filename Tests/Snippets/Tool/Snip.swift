// Turns the Swift code in a page of documentation into code that the tests compile, so that no page shows code that
// does not build. Compiler errors name the page and its line.

import Foundation
import Snippets

@main struct Snip {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { fail("usage: snip PAGE OUTPUT") }
        do {
            let text = try String(contentsOfFile: arguments[1], encoding: .utf8)
            let page = try Page(text, path: arguments[1])
            try page.code.write(toFile: arguments[2], atomically: true, encoding: .utf8)
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ sentence: String) -> Never {
        FileHandle.standardError.write(Data((sentence + "\n").utf8))
        exit(1)
    }
}
