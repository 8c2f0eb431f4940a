// The live page, served from memory. It contains no data itself: it calls the admin API with the token that the user
// enters. Its files in `Live/` are served unchanged, without a build step.

import CPages
import Hummingbird
import NIOCore
import RollcallProtocol

/// A file of the page.
struct LivePage: Hashable {
    let name: String
    private let type: String
    private let bytes: [UInt8]

    /// In the order of `CPages.c`.
    private static let all = ["live.html", "live.css", "live.js", "icon.svg"].enumerated().map { number, name in
        LivePage(name: name, type: type(of: name), bytes: Array(String(cString: live_file(Int32(number))).utf8))
    }

    static let page = all.first { $0.name == "live.html" }!

    /// The files that the page loads from `/live/`.
    static let files = all.filter { $0 != page }

    static func named(_ name: ByteString) throws(AdminProblem) -> LivePage {
        guard let file = files.first(where: { ByteString($0.name) == name }) else {
            throw AdminProblem(.notFound, "the live page has no such file")
        }
        return file
    }

    private static func type(of name: String) -> String {
        if name.hasSuffix(".js") { return "text/javascript" }
        if name.hasSuffix(".css") { return "text/css" }
        return name.hasSuffix(".svg") ? "image/svg+xml" : "text/html"
    }

    /// Allows only files and API responses of this port, and forbids embedding the page.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    var response: Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "\(type); charset=utf-8", .contentSecurityPolicy: Self.policy, .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
