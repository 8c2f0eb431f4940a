// The module for browsers, as a server of any kind may serve it: the files of `Module/` in memory.

internal import CModule

/// A file of the module for browsers.
public struct BrowserFile: Hashable, Sendable {
    /// Its name. All files belong in one folder: they import each other by name, and a page imports `rollcall.js`.
    public let name: String
    public let contentType: String
    public let bytes: [UInt8]

    /// All files: ES modules without dependencies, of which only `react.js` imports another package, React; and the types of
    /// what they offer, for TypeScript and for editors.
    public static let all = names.enumerated().map { number, name in
        BrowserFile(
            name: name, contentType: type(of: name), bytes: Array(String(cString: browser_file(Int32(number))).utf8))
    }

    /// In the order of `CModule.c`.
    private static let names = [
        "attention.js", "client.js", "connection.js", "engine.js", "here.js", "messages.js", "names.js", "outbox.js",
        "page.js", "people.js", "person.js", "react.d.ts", "react.js", "rollcall.d.ts", "rollcall.js", "room.js",
        "route.js",
        "subscriptions.js", "testing.d.ts", "testing.js", "texts.js", "token.js", "typing.js", "updates.js",
        "words.d.ts", "words.js",
    ]

    private static func type(of name: String) -> String {
        name.hasSuffix(".js") ? "text/javascript; charset=utf-8" : "text/plain; charset=utf-8"
    }
}
