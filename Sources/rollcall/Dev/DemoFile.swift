// The files of the demo page, with their content types.

import Hummingbird
import NIOCore
import RollcallBrowser

/// A file of the demo page.
struct DemoFile: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    static let all = page + BrowserFile.all.map { DemoFile(path: $0.name, type: $0.contentType, bytes: $0.bytes) }

    private static let page = [
        DemoFile(path: "", type: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        DemoFile(path: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
        script("demo.js", PackageResources.demo_js),
        script("parts.js", PackageResources.parts_js),
        script("model/bot.js", PackageResources.bot_js),
        script("model/chat.js", PackageResources.chat_js),
        script("model/crowd.js", PackageResources.crowd_js),
        script("model/device.js", PackageResources.device_js),
        script("model/language.js", PackageResources.language_js),
        script("model/memory.js", PackageResources.memory_js),
        script("model/network.js", PackageResources.network_js),
        script("model/pace.js", PackageResources.pace_js),
        script("model/people.js", PackageResources.people_js),
        script("model/settings.js", PackageResources.settings_js),
        script("model/story.js", PackageResources.story_js),
        script("model/timeline.js", PackageResources.timeline_js),
        script("model/words.js", PackageResources.words_js),
        script("views/appearance.js", PackageResources.appearance_js),
        script("views/avatar.js", PackageResources.avatar_js),
        script("views/bubbles.js", PackageResources.bubbles_js),
        script("views/commands.js", PackageResources.commands_js),
        script("views/controls.js", PackageResources.controls_js),
        script("views/deployment.js", PackageResources.deployment_js),
        script("views/frame.js", PackageResources.frame_js),
        script("views/header.js", PackageResources.header_js),
        script("views/screen.js", PackageResources.screen_js),
        script("views/speaker.js", PackageResources.speaker_js),
        script("views/steps.js", PackageResources.steps_js),
        script("views/told.js", PackageResources.told_js),
        script("views/typing-row.js", PackageResources.typing_row_js),
        script("views/wire.js", PackageResources.wire_js),
        style("styles/bubbles.css", PackageResources.bubbles_css),
        style("styles/chat.css", PackageResources.chat_css),
        style("styles/colours.css", PackageResources.colours_css),
        style("styles/controls.css", PackageResources.controls_css),
        style("styles/device.css", PackageResources.device_css),
        style("styles/lab.css", PackageResources.lab_css),
        style("styles/page.css", PackageResources.page_css),
        style("styles/typing.css", PackageResources.typing_css),
    ]

    private static func script(_ path: String, _ bytes: [UInt8]) -> DemoFile {
        DemoFile(path: path, type: "text/javascript; charset=utf-8", bytes: bytes)
    }

    private static func style(_ path: String, _ bytes: [UInt8]) -> DemoFile {
        DemoFile(path: path, type: "text/css; charset=utf-8", bytes: bytes)
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
