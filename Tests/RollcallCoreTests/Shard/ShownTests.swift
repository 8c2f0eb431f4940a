// What a viewer sees of a user is decided in one function, `Presence.shown(to:)`. These are the paths that show presence, each
// played by BackgroundDeviceStories; one that is added has to be named here.

import Foundation
import Testing

@Suite struct ShownTests {
    private static let paths: Set = [
        // What a session has just begun to watch, also as a member, or missed while it was slow; and changes.
        "Outbound.send", "Watches.sendChange", "Watch.shown",
        // An answer to a `get`; and to a server or an operator.
        "Watches.got", "Watches.gotPresence", "Shard.presences", "Shard.explanation",
        // What these read is shown to nobody before it came through one of the above, or is for servers only.
        "VisiblePresence.init", "NodeAccess.storedPresence", "Reach.init",
    ]

    @Test("each path that shows presence is known, and asks what its viewer may see")
    func paths() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let shows = try Regex(#"\.shown\(to: |\(\.presence\((\[|presences)|\.presence\(past: "#)
        let function = try Regex(#"\bfunc (\w+)|\b(init)\b[(?]"#)
        var found: Set<String> = []
        for folder in ["RollcallProtocol", "RollcallCore", "RollcallServer", "RollcallNode", "RollcallWorker"] {
            for case let file as URL in try #require(
                FileManager.default.enumerator(at: sources.appending(path: folder), includingPropertiesForKeys: nil))
            where file.pathExtension == "swift" {
                var name = ""
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    if line.contains("//") { continue }
                    if let match = line.firstMatch(of: function) {
                        name = String(match.output[1].substring ?? match.output[2].substring ?? "")
                    }
                    if line.contains(shows) {
                        found.insert("\(file.deletingPathExtension().lastPathComponent).\(name)")
                    }
                }
            }
        }
        #expect(found == Self.paths)
    }
}
