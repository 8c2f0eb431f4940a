// How much a viewer sees of a user is decided in one place, `Sight.init(of:for:by:lastSeen:at:)`. These are the functions that ask it, and those
// that send presence; one that is added has to be named here, so that somebody looks whether it asks.

import Foundation
import Testing

@Suite struct ShownTests {
    @Test(
        "the functions that show presence are these",
        arguments: [
            // For a session: what it has just begun to watch, also as a member, or missed while it was slow; changes; and the
            // answer to a `get`. For a server or an operator: a read, and an explanation.
            (
                #"\.shown\(in: "#,
                [
                    "Watch.shown", "Watch.timelessNews", "Watches.sendChange", "Watches.got", "Watches.presences",
                    "Shard.explanation",
                ]
            ),
            (#"\bSight\((of: |$)"#, ["Persons.view", "Persons.hides", "Persons.sight"]),
            // `gotPresence` sends what `got` returns.
            (
                #"\.shown\((news|presences)"#,
                ["Outbound.send", "Watches.sendChange", "Watches.sendTimelessChange", "Watches.gotPresence"]
            ),
            (#"[( ]\.presence\((\[|presences)"#, ["Visibility.shown"]),
            // What a record says is for the first shown to nobody, and for the others not what a viewer sees: the stored state
            // of backends that take events, and whether to push.
            (#"\.presence\(past: "#, ["VisiblePresence.init", "NodeAccess.storedPresence", "Reach.init"]),
        ])
    func paths(expression: String, functions: [String]) throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let (shows, function) = (try Regex(expression), try Regex(#"\bfunc (\w+)|\b(init)\b[(?]"#))
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
        #expect(found == Set(functions))
    }
}
