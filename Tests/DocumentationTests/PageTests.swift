// How a page is turned into code to compile. The compiler checks whether the snippets are correct.

import Snippets
import Testing

@Suite("A page of documentation")
struct PageTests {
    @Test("has its statements compiled as a function's body, at their own lines")
    func statements() throws {
        let page = try Page("# Title\n\n```swift\nimport Foundation\nlet one = 1\n```\n", path: "a.md")
        #expect(
            page.code == """
                // The Swift of a page of documentation.

                import Foundation
                import RollcallClient

                private struct Page {
                @MainActor func line4() async throws {
                #sourceLocation(file: "a.md", line: 4)

                let one = 1
                #sourceLocation()
                _ = one
                }
                }

                """)
    }

    @Test("has its declarations compiled unchanged, and other languages ignored")
    func declarations() throws {
        let page = try Page("```json\nlet\n```\n```swift\nstruct A {}\n```\n```swift\nlet a = A()\n```", path: "a.md")
        #expect(page.snippets.count == 2)
        #expect(page.code.contains("line: 5)\nstruct A {}\n#sourceLocation()\n@MainActor func line8()"))
    }

    @Test("has code for Apple's platforms compiled only there")
    func elsewhere() throws {
        let page = try Page("```swift\nimport SwiftUI\nstruct A: View {}\n```", path: "a.md")
        #expect(page.code.contains("#if canImport(SwiftUI)\nimport SwiftUI\n#endif"))
        #expect(page.code.contains("#if canImport(SwiftUI)\n#sourceLocation(file: \"a.md\", line: 2)"))
    }

    @Test(
        "is refused if a snippet in it would be overlooked",
        arguments: ["1. One:\n   ```swift\n   let a = 1\n   ```", "```swift\nlet a = 1", "```swift no-test\n```"])
    func unseen(text: String) {
        #expect(throws: UnreadablePage.self) { try Page(text, path: "a.md") }
    }
}
