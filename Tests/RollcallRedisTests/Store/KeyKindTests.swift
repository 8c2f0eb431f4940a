import RollcallModel
import RollcallRedis
import Testing

@Suite("Kinds of keys")
struct KeyKindTests {
    private static func names(_ prefix: String) throws -> [(String, KeyKind)] {
        let names = KeyNames(prefix: prefix)
        let (user, room) = (try UserID("alice"), try ConversationID("c42"))
        let worker = Incarnation(name: "w1.3f")
        return [
            (names.typing(room), .typists), (names.typing(room, user), .typing), (names.presence(user), .presence),
            (names.members(room), .members), (names.revoked(user), .revoked), (names.workers, .workers),
            (names.worker(worker), .worker), (names.sessions(worker), .sessions), (names.sweeper(worker), .sweeper),
        ]
    }

    @Test("every key name is recognised by its kind", arguments: ["", "chat:", "a*b:"])
    func known(prefix: String) throws {
        let names = try Self.names(prefix)
        for (name, kind) in names { #expect(KeyNames(prefix: prefix).kind(of: name) == kind, "\(name)") }
        #expect(Set(names.map { $0.1 }) == Set(KeyKind.allCases))
    }

    @Test(
        "similar names are not recognised",
        arguments: [
            "", "presence:", "presence:{}", "presence:alice", "presence:{a}:b", "typing:{c}x", "typing:{c}:",
            "{workers",
            "{workers}:", "{others}", "worker:{w}", "worker:{w}:cards", "other:{a}", "xpresence:{a}",
        ])
    func foreign(name: String) {
        #expect(KeyNames().kind(of: name) == nil)
        #expect(KeyNames(prefix: "chat:").kind(of: name) == nil)
    }
}
