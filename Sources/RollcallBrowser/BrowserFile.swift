// The module for browsers, as a server of any kind may serve it: two files in memory, from `Module/`. `rollcall.js` is
// made from the modules in `JavaScript/` by `make browser-module` and checked in, so a build needs no other tool.

/// A file of the module for browsers.
public struct BrowserFile: Hashable, Sendable {
    /// Its name beside the other, as an import in a page names it.
    public let name: String
    public let contentType: String
    public let bytes: [UInt8]

    /// `rollcall.js`: the client and the texts that people read, one ES module without dependencies.
    public static let module = BrowserFile(
        name: "rollcall.js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.rollcall_js)

    /// `rollcall.d.ts`: the types of what the module offers, for TypeScript and for editors.
    public static let declarations = BrowserFile(
        name: "rollcall.d.ts", contentType: "text/plain; charset=utf-8", bytes: PackageResources.rollcall_d_ts)

    public static let all = [module, declarations]
}
