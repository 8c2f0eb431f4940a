import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import RollcallCore
import RollcallProtocol
import Testing
import Yams

@testable import RollcallServer
@testable import RollcallWorker

@Suite("What operators ask of the admin port")
struct OperatorRouteTests {
    private let node = DictionaryNode()

    @Test("a user is explained, with each device and its worker")
    func explained() async throws {
        let worker = Incarnation(name: "w1.aa")
        let time = Timestamp(milliseconds: 900)
        let device = DeviceRecord(
            state: .active, incarnation: worker, began: time, session: SessionID(random: "5e"), sequence: 2,
            since: time, lost: nil)
        var report = WorkerReport(incarnation: worker, leaseEnd: Timestamp(milliseconds: 5000))
        report.host = "h"
        node.change { [report] in
            $0.workers = [report]
            $0.open = [
                try! DeviceID("phone"): [try! ConversationID("doc1")],
                .ofServer(mark: 0): [try! ConversationID("doc2")],
            ]
            $0.records[try! UserID("alice")] = PresenceRecord(
                user: try! UserID("alice"), devices: [try! DeviceID("phone"): device], lastSeen: time, updatedAt: time,
                version: 7)
        }
        try await withAdmin(node) { ask in
            let answer = try await ask("GET", "/v1/users/alice")
            #expect(answer.status == 200)
            #expect(
                answer.body == #"{"devices":[{"device":"phone","open":["doc1"],"sequence":2,"#
                    + #""session":"900-5e","since":900,"standing":"connected","state":"active","worker":{"alive":true,"draining":false,"host":"h","#
                    + #""incarnation":"w1.aa","lease_end":5000}}],"last_seen":900,"rule":{"code":"active","#
                    + #""text":"online: phone is active on w1.aa"},"shown_by_servers":["doc2"],"status":"online","stored":"online","time":1000,"#
                    + #""updated_at":900,"user":"alice","version":7}"#)
            #expect(
                try await ask("GET", "/v1/workers").body == #"{"time":1000,"workers":[{"alive":true,"draining":false,"#
                    + #""host":"h","incarnation":"w1.aa","lease_end":5000}]}"#)
        }
    }

    @Test("live figures include recent events, and what a worker does not report is missing")
    func live() async throws {
        var report = WorkerReport(incarnation: Incarnation(name: "w1.aa"), leaseEnd: Timestamp(milliseconds: 5000))
        report.figures.signals = 7
        report.figures.roundTripMicroseconds = 90
        node.change { [report] in
            $0.workers = [report]
            $0.typing[try! ConversationID("c42")] = [Typist(user: try! UserID("bob"))]
        }
        let ring = EventRing()
        ring.note(LoggedEvent(at: Timestamp(milliseconds: 900), level: .info, message: "swept", facts: ["n": "1"]))
        try await withAdmin(node, events: ring) { ask in
            let told = try await ask("GET", "/v1/live").body
            #expect(told.contains(#/"host_time":\d{13},/#))
            #expect(
                told.replacing(#/"host_time":\d+,/#, with: "")
                    == #"{"conversations":[{"conversation":"c42","joined":3,"typing":1}],"#
                    + #""events":[{"at":900,"facts":{"n":"1"},"level":"info","message":"swept","times":1}],"#
                    + #""ready":true,"redis":{"p50_us":80,"up":true},"time":1000,"worker":"w1.aa","#
                    + #""workers":[{"alive":true,"draining":false,"incarnation":"w1.aa","lease_end":5000,"#
                    + #""round_trip_us":90,"signals":7}]}"#)
            node.change { $0.failure = Unavailable() }
            let away = try await ask("GET", "/v1/live")
            #expect(away.status == 503 && away.headers["retry-after"] == "1")
        }
    }

    @Test("users are disconnected, revoked and erased by name, but not by an incomplete request")
    func done() async throws {
        try await withAdmin(node) { ask in
            #expect(try await ask("DELETE", "/v1/users/alice/sessions").status == 200)
            let one = try await ask("DELETE", "/v1/users/a%2Fb/sessions?de%76ice=i%C3%A9")
            #expect(one.body == #"{"sent_away":["ié"],"unreached":[]}"#)
            #expect(try await ask("POST", "/v1/users/alice/revoke").status == 200)
            #expect(try await ask("DELETE", "/v1/users/alice?conversation=c&conversation=d").status == 204)
            let done = ["alice * away", "a/b ié away", "alice revoked", #"alice erased from ["c", "d"]"#]
            #expect(node.done == done)
            for path in [
                "/v1/users/alice/sessions?devcie=a", "/v1/users/alice/sessions?device", "/v1/users/alice/sessions?%=a",
                "/v1/users/alice/sessions?device=a&device=b",
                "/v1/users/alice/sessions?device=", "/v1/users/alice/sessions?device=a%20b", "/v1/users/alice?device=a",
                "/v1/users/a%0Ab", "/v1/users/%7Ba%7D", "/v1/users/%00",
            ] {
                let refused = try await ask("DELETE", path)
                #expect(refused.status == 400 && refused.problem == "bad_request", "\(path)")
            }
            #expect(node.done == done)
            node.change { $0.isReady = false }
            let stuck = try await ask("DELETE", "/v1/users/alice")
            #expect(stuck.status == 503 && stuck.headers["retry-after"] == "1" && stuck.body.contains("would not end"))
            node.change { $0.failure = Unsettled(retryAfter: .milliseconds(2500)) }
            let early = try await ask("DELETE", "/v1/users/alice")
            #expect(early.status == 503 && early.headers["retry-after"] == "3" && early.body.contains("just started"))
        }
    }

    @Test("names that could be another key, path or log line are treated as names, or refused")
    func hostileNames() async throws {
        try await withAdmin(node) { ask in
            for (name, status) in [
                ("alice%7D:sessions", 400), ("%7Bworkers%7D", 400), ("a%0d%0aINFO:%20all%20is%20well", 400),
                ("a%1b%5b2J", 400), ("%C2%85", 400), ("%E2%80%A8", 400), ("..%2F..%2Fworkers", 200), ("a:b", 200),
                ("%25", 200), ("+", 200), (String(repeating: "x", count: 255), 200),
                (String(repeating: "x", count: 256), 400), (String(repeating: "%C3%A9", count: 128), 400),
            ] as [(String, Int)] {
                let answer = try await ask("GET", "/v1/users/\(name)")
                #expect(answer.status == status, "\(name)")
            }
        }
    }

    @Test("other methods have no effect, and are told the permitted ones")
    func methods() async throws {
        try await withAdmin(node) { ask in
            for method in ["OPTIONS", "PATCH", "PUT"] {
                let refused = try await ask(method, "/v1/users/alice")
                #expect(refused.status == 405 && refused.problem == "method_not_allowed", "\(method)")
                #expect(refused.headers["allow"] == "GET, HEAD, DELETE")
            }
            for method in ["PROPFIND", "TRACE"] { #expect(try await ask(method, "/v1/users/alice").status == 404) }
            #expect(try await ask("BREW", "/v1/users/alice").status == 400, "an unknown method is not valid HTTP")
        }
    }

    @Test("without a token, only web pages of this machine are answered")
    func webPages() async throws {
        try await withAdmin(node) { ask in
            for (origin, status) in [
                ("http://localhost:3000", 200), ("http://127.0.0.1", 200), ("https://evil.example", 401),
                ("null", 401), ("http://localhost.evil.example", 401),
            ] {
                let answer = try await ask("POST", "/v1/users/alice/revoke", headers: ["Origin": origin])
                #expect(answer.status == status, "\(origin)")
            }
        }
    }

    @Test("each change is one log line, which identifies the user without a name")
    func audited() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        var logger = Logger(label: "test") { _ in AdminLogRecorder(lines: lines) }
        logger.logLevel = .info
        try await withAdmin(node, token: "0123456789abcdef", logger: logger) { ask in
            _ = try await ask("GET", "/v1/users/alice")
            _ = try await ask("POST", "/v1/presence", #"{"users":["alice"]}"#)
            #expect(lines.withLockedValue { $0 } == [])
            _ = try await ask("DELETE", "/v1/users/alice/sessions?device=phone")
            _ = try await ask("DELETE", "/v1/users/alice")
            _ = try await ask("DELETE", "/v1/conversations/c/members/bob")
            _ = try await AdminClient(port: ask.port)("DELETE", "/v1/users/alice")
            _ = try await ask("PUT", "/v1/conversations/secret-club/members/bob", "{}")
        }
        // By the recipe in docs/admin.md.
        let alice = "9f32145f9cf9831f"
        let log = lines.withLockedValue { $0 }
        #expect(log.count == 5)
        #expect(
            log.first
                == "notice admin change method=DELETE remote=127.0.0.1 route=/v1/users/{user}/sessions status=200 "
                + "subject=\(alice)")
        #expect(log[1].contains("status=204") && log[1].hasSuffix(alice))
        #expect(!log[2].contains(alice) && log[2].contains("subject="))
        #expect(
            log[3] == "warning admin requests refused count=1 reason=unauthorized remote=127.0.0.1"
                && log[4].contains("status=400"))
        #expect(!log.joined().contains("bob") && !log.joined().contains("secret-club"))
    }

    @Test("the OpenAPI document has exactly the paths and methods of the code")
    func document() async throws {
        struct Document: Decodable {
            var paths: [String: [String: AnyValue]]
        }
        struct AnyValue: Decodable {
            init(from decoder: any Decoder) throws {}
        }
        let file = URL(filePath: #filePath).appending(path: "../../../../docs/openapi.yaml").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let document = try YAMLDecoder().decode(Document.self, from: text)
        var written: [String: String] = [:]
        for (path, operations) in document.paths {
            // HEAD is GET without the body, and is not listed.
            let methods = ["get", "options", "post", "put", "delete", "patch"].filter { operations[$0] != nil }
            written[path] = methods.map { $0 == "get" ? "GET, HEAD" : $0.uppercased() }.joined(separator: ", ")
        }
        let routes = AdminRoutes(node: node, metrics: nil, events: EventRing()).all
        let coded = Dictionary(grouping: routes, by: \.path).mapValues { routes in
            routes.map { "\($0.method)" == "GET" ? "GET, HEAD" : "\($0.method)" }.joined(separator: ", ")
        }
        #expect(written == coded)
        let codes = text.firstMatch(of: /code:\n +enum: \[(bad_request[^\]]+)\]/)?.1.matches(of: /[a-z_]+/) ?? []
        #expect(Set(codes.map { String($0.output) }) == Set(AdminProblem.Code.allCases.map(\.rawValue)))
    }
}

/// Keeps lines as `level message key=value…`.
struct AdminLogRecorder: LogHandler {
    let lines: NIOLockedValueBox<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        lines.withLockedValue { $0.append("\(event.level) \(event.message)\(words.joined())") }
    }
}
