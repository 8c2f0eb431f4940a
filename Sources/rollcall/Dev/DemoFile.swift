// The files of the demo page, with their content types.

import CPages
import Hummingbird
import NIOCore
import RollcallBrowser

/// A file of the demo page.
struct DemoFile: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    static let all = page + BrowserFile.all.map { DemoFile(path: $0.name, type: $0.contentType, bytes: $0.bytes) }

    /// In the order of `CPages.c`.
    private static let page = [
        "demo.js", "icon.svg", "index.html", "model/bot.js", "model/chat.js", "model/crowd.js", "model/device.js",
        "model/language.js", "model/memory.js", "model/network.js", "model/pace.js", "model/people.js",
        "model/settings.js", "model/story.js", "model/timeline.js", "model/words.js", "parts.js",
        "styles/bubbles.css", "styles/chat.css", "styles/colours.css", "styles/controls.css", "styles/device.css",
        "styles/lab.css", "styles/page.css", "styles/typing.css", "views/appearance.js", "views/avatar.js",
        "views/bubbles.js", "views/commands.js", "views/controls.js", "views/deployment.js", "views/frame.js",
        "views/header.js", "views/screen.js", "views/speaker.js", "views/steps.js", "views/told.js",
        "views/typing-row.js", "views/wire.js",
    ].enumerated().map { number, path in
        DemoFile(
            path: path == "index.html" ? "" : path, type: type(of: path),
            bytes: Array(String(cString: demo_file(Int32(number))).utf8))
    }

    private static func type(of path: String) -> String {
        if path.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        if path.hasSuffix(".css") { return "text/css; charset=utf-8" }
        return path.hasSuffix(".svg") ? "image/svg+xml" : "text/html; charset=utf-8"
    }

    var response: Response { Self.response(bytes, type: type) }

    /// Allows the page's own scripts, styles and images, and WebSockets to this machine; nothing else.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
        connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    static func response(_ bytes: some Sequence<UInt8>, type: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: type, .contentSecurityPolicy: policy, .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
