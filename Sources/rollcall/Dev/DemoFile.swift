// The files of the demo page and how a browser is to take them.

import Hummingbird
import NIOCore
import RollcallBrowser

/// A file of the page.
struct DemoFile: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    static let all = page + BrowserFile.all.map { DemoFile(path: $0.name, type: $0.contentType, bytes: $0.bytes) }

    private static let page = [
        DemoFile(path: "", type: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        DemoFile(path: "style.css", type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
        DemoFile(path: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
        script("demo.js", PackageResources.demo_js),
        script("chat.js", PackageResources.chat_js),
        script("device.js", PackageResources.device_js),
        script("pane.js", PackageResources.pane_js),
        script("parts.js", PackageResources.parts_js),
    ]

    private static func script(_ path: String, _ bytes: [UInt8]) -> DemoFile {
        DemoFile(path: path, type: "text/javascript; charset=utf-8", bytes: bytes)
    }

    var response: Response { Self.response(bytes, type: type) }

    /// Scripts, styles and pictures of the page's own and WebSockets on this machine; nothing else.
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
