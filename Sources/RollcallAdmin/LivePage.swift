// The live page, served from memory. It contains no data itself: it calls the admin API with the token that the user
// enters. Its files in `Live/` are served unchanged, without a build step.

import Hummingbird
import NIOCore
import RollcallModel

/// A file of the page.
struct LivePage: Hashable {
    let name: String
    private let type: String
    private let bytes: [UInt8]

    static let page = LivePage(name: "live.html", type: "text/html", bytes: PackageResources.live_html)

    /// The files that the page loads from `/live/`.
    static let files = [
        style("charts.css", PackageResources.charts_css),
        style("live.css", PackageResources.live_css),
        LivePage(name: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
        script("asker.js", PackageResources.asker_js),
        script("chart.js", PackageResources.chart_js),
        script("dom.js", PackageResources.dom_js),
        script("figures.js", PackageResources.figures_js),
        script("history.js", PackageResources.history_js),
        script("live.js", PackageResources.live_js),
        script("lookup.js", PackageResources.lookup_js),
        script("tables.js", PackageResources.tables_js),
        script("words.js", PackageResources.words_js),
    ]

    static func named(_ name: String) throws(AdminProblem) -> LivePage {
        guard let file = files.first(where: { $0.name.isSame(as: name) }) else {
            throw AdminProblem(.notFound, "the live page has no such file")
        }
        return file
    }

    private static func script(_ name: String, _ bytes: [UInt8]) -> LivePage {
        LivePage(name: name, type: "text/javascript", bytes: bytes)
    }

    private static func style(_ name: String, _ bytes: [UInt8]) -> LivePage {
        LivePage(name: name, type: "text/css", bytes: bytes)
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
