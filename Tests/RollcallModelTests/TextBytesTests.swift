import Foundation
import TestSupport
import Testing

@testable import RollcallModel

@Suite("Text is bytes")
struct TextBytesTests {
    private let names = NastyNames.all

    @Test("Words are found by their bytes, whatever they begin or end with")
    func words() {
        for left in names {
            for right in names {
                #expect(
                    "\(left) \(right)".parts(at: " ").map { Array($0.utf8) } == [Array(left.utf8), Array(right.utf8)])
            }
        }
        #expect("a  b ".parts(at: " ") == ["a", "", "b", ""])
        #expect("".parts(at: " ") == [""])
        #expect("a-b-c".cut(at: "-")?.after == "b-c" && "a-b-c".cut(atLast: "-")?.before == "a-b")
        #expect("abc".cut(at: "-") == nil)
        #expect("x:\u{301}".begins(with: "x:") && "\u{301}".ends(with: "\u{301}") && !"x".begins(with: "xy"))
    }

    @Test("A notice to a worker names the session that it was written for")
    func notices() throws {
        for name in names {
            let (user, device) = (try UserID(name), try DeviceID(name))
            let expected = SessionName(user: user, device: device, session: SessionID(random: "5f0c8e21a9b3d41"))
            for notice in [
                WorkerNotice.replaced(user: user, device: device, session: "17-5f0c8e21a9b3d41"),
                .sentAway(user: user, device: device, session: "17-5f0c8e21a9b3d41"),
            ] {
                #expect(WorkerNotice(payload: notice.payload.utf8)?.session == expected, "\(name.debugDescription)")
            }
        }
    }

    @Test("Canonically equal names of incarnations, sessions, messages and members differ")
    func equality() throws {
        for (left, right) in NastyNames.canonicallyEqual {
            #expect(Incarnation(name: left) != Incarnation(name: right))
            #expect(Set([SessionID(random: left), SessionID(random: right)]).count == 2)
            #expect(MessageID.text(left) != .text(right))
            #expect(Typist(user: try UserID("a"), name: left) != Typist(user: try UserID("a"), name: right))
        }
    }

    /// Exceptions to the rule below, because they affect no names and no text from outside.
    private static let allowed = [
        // Sentinel's own keywords.
        "RollcallRedis/Topology/SentinelSearch.swift": ["[String: String]"],
        "RollcallRedis/RESP/RedisError.swift": ["refusalsOfWrites: Set<String>"],  // Redis's own error words
        "RollcallRedis/Connection/RedisClient.swift": ["[String: Script]"],  // names of Rollcall's scripts
        "RollcallRedis/Connection/CommandConnection.swift": ["[String: String]"],
        "RollcallAdmin/AdminLive.swift": ["[String: String]"],  // facts of the log, by constant keys
        "RollcallAdmin/EventRing.swift": ["[String: String]"],
        "RollcallAdmin/AdminProblem.swift": ["JSONEncoder"],  // answers with fixed fields
        "RollcallAdmin/Prometheus/PrometheusMetrics.swift": ["[String: Family]"],  // names of metrics
        "RollcallAdmin/Prometheus/ProcessFigures.swift": ["/proc/", ".split(separator: \" \")"],  // the kernel's words
        "RollcallEdge/Handshake/OriginPolicy.swift": ["Set<String>", ".contains(\"*\")"],  // of origins
        "RollcallEdge/Handshake/Handshake.swift": [
            ".contains(\"websocket\")", ".contains(\"upgrade\")", "content-length",  // in lists of words
        ],
        "RollcallRedis/Topology/RedisURL.swift": ["database: String(parts.path.drop"],  // a number
        "RollcallListener/ListenError.swift": [".contains(\":\")"],  // in the host of a setting
        "RollcallEdge/Handshake/Refusal.swift": ["[String: String]"],  // Rollcall's headers
    ]

    /// Operations on `Character`s, or that treat canonically equal texts as the same.
    nonisolated(unsafe) private static let rule =
        #/\.split\(separator: "|split\(whereSeparator: \\\.is|(first|last)Index\(of: "|\bhas(Prefix|Suffix)\(|\.contains\("|firstRange\(of: "|\brange\(of:|components\(separatedBy|trimming(Characters|Prefix)|\bCharacter\b|\[String ?:|Set<String>|Dictionary<String|JSON(De|En)coder|(prefix|drop|first|contains|allSatisfy) ?\(?(while: )?\{ \$0 (!=|==) "/#

    @Test("Text from outside is not handled as characters")
    func sources() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let folders =
            ["RollcallModel", "RollcallCore", "RollcallRedis"]
            + ["RollcallAdmin", "RollcallEdge", "RollcallListener"]
            + ["Local", "Node", "Shard"].map { "RollcallShards/\($0)" }
        var found: [String] = []
        var files = 0
        for folder in folders {
            let all = FileManager.default.enumerator(
                at: sources.appending(path: folder), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(all) where file.pathExtension == "swift" {
                files += 1
                let path = String(file.path.dropFirst(sources.path.count + 1))
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                for line in lines where !line.drop(while: { $0 == " " }).hasPrefix("//") && line.contains(Self.rule) {
                    guard Self.allowed[path]?.contains(where: { line.contains($0) }) != true else { continue }
                    found.append("\(path): \(line.trimmingCharacters(in: .whitespaces))")
                }
            }
        }
        #expect(files > 150, "the sources are elsewhere")
        #expect(found == [], "use utf8, or TextBytes.swift")
    }
}
