import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The admin port")
struct AdminTests {
    private let node = DictionaryNode()

    @Test("a running process is healthy; one that can serve is ready")
    func health() async throws {
        try await withAdmin(node) { ask in
            #expect(try await ask("GET", "/health").status == 200)
            #expect(try await ask("GET", "/ready").status == 200)
            node.change {
                $0.isReady = false
                $0.failure = Unavailable()
            }
            #expect(try await ask("GET", "/health").body == #"{"status":"ok"}"#)
            let unready = try await ask("GET", "/ready")
            #expect(unready.status == 503)
            #expect(unready.problem == "unavailable")
            #expect(unready.headers["retry-after"] == "1")
            #expect(try await ask("GET", "/ready?redis=any").status == 200, "without Redis")
            #expect(try await ask("GET", "/ready?redis=none").status == 400)
            node.change { $0.isDraining = true }
            #expect(try await ask("GET", "/ready?redis=any").status == 503)
        }
    }

    @Test("HEAD is GET without the body")
    func head() async throws {
        try await withAdmin(node) { ask in
            for path in ["/health", "/ready", "/v1/presence?user=a", "/v1/conversations/c/typing"] {
                let answer = try await ask("HEAD", path)
                #expect(answer.status == 200, "\(path)")
                #expect(answer.body.isEmpty)
            }
            #expect(try await ask("HEAD", "/v1/conversations/c/members").status == 404)
        }
    }

    @Test("presence is returned as in the presence message, in the order of the request")
    func presence() async throws {
        let bob = Presence(
            user: try UserID("bob"), status: .online, lastSeen: Timestamp(milliseconds: 5),
            updatedAt: Timestamp(milliseconds: 6), version: 7)
        node.change { $0.presence[bob.user] = bob }
        let expected =
            #"{"users":[{"last_seen":null,"status":"offline","updated_at":null,"user":"alice","version":1},"#
            + #"{"last_seen":5,"status":"online","updated_at":6,"user":"bob","version":7}]}"#
        try await withAdmin(node) { ask in
            let asked = try await ask("GET", "/v1/presence?user=alice&user=bob")
            #expect(asked.status == 200)
            #expect(asked.body == expected)
            #expect(asked.headers["content-type"] == "application/json")
            #expect(asked.headers["cache-control"] == "no-store")
            for (method, path) in [("GET", "/v1/presence?user=alice"), ("GET", "/nowhere"), ("HEAD", "/health")] {
                let headers = try await ask(method, path).headers
                #expect(headers["x-content-type-options"] == "nosniff", "\(method) \(path)")
                #expect(headers["cross-origin-resource-policy"] == "same-origin", "\(method) \(path)")
            }
            #expect(try await ask("POST", "/v1/presence", #"{"users":["alice","bob"],"more":1}"#).body == expected)
            #expect(try await ask("POST", "/v1/presence", #"{"users":[]}"#).body == #"{"users":[]}"#)
        }
    }

    @Test("what is stored is returned to who asks for it")
    func stored() async throws {
        try await withAdmin(node) { ask in
            let answer = try await ask("POST", "/v1/presence", #"{"users":["alice"],"stored":true}"#)
            #expect(answer.body.contains(#""version":1001"#))
            #expect(try await ask("POST", "/v1/presence", #"{"users":["alice"],"stored":1}"#).problem == "bad_request")
        }
    }

    @Test("events are read behind a cursor, at once or when there are some")
    func events() async throws {
        let bob = Presence(
            user: try UserID("bob"), status: .online, lastSeen: Timestamp(milliseconds: 5), updatedAt: nil, version: 7)
        let reset = Event(
            id: EventID(milliseconds: 9, number: 1), content: .reset, at: Timestamp(milliseconds: 9))
        let came = Event(id: EventID(milliseconds: 9, number: 2), content: .status(bob), at: Timestamp(milliseconds: 9))
        try await withAdmin(node) { ask in
            #expect(try await ask("GET", "/v1/events").problem == "not_found", "events are off")
            node.change { $0.events = [reset] }
            let first = try await ask("GET", "/v1/events?after=0")
            #expect(first.body == #"{"events":[{"at":9,"id":"9-1","type":"reset"}],"next":"9-1"}"#)
            #expect(try await ask("GET", "/v1/events?after=9-1").body == #"{"events":[],"next":"9-1"}"#)
            async let waiting = ask("GET", "/v1/events?after=9-1&wait=60s")
            try await Task.sleep(for: .milliseconds(400))
            node.change { $0.events = [reset, came] }
            let told = #"{"at":9,"id":"9-2","last_seen":5,"status":"online","user":"bob","version":7}"#
            #expect(try await waiting.body == #"{"events":["# + told + #"],"next":"9-2"}"#)
            #expect(try await ask("GET", "/v1/events?after=9-2&wait=300ms").body == #"{"events":[],"next":"9-2"}"#)
            for query in [
                "after=", "after=x", "after=9-", "after=-1", "after=9-1-2", "after=99999999999999999999",
                "after=%EF%BC%99",
                "wait=30", "wait=61s", "wait=-1s", "wait=",
            ] {
                #expect(try await ask("GET", "/v1/events?\(query)").problem == "bad_request", "\(query)")
            }
        }
    }

    /// Regression: its place stayed taken for as long as it had asked to wait, up to a minute.
    @Test("a reader that hangs up gives its place to another")
    func hungUp() async throws {
        node.change { $0.events = [] }
        try await withAdmin(node) { ask in
            let readers = try (0..<32).map { _ in try RawClient(port: ask.port) }
            for reader in readers {
                try await reader.send(Array("GET /v1/events?after=0&wait=60s HTTP/1.1\r\nhost: x\r\n\r\n".utf8))
            }
            try await Task.sleep(for: .milliseconds(300))
            for (number, reader) in readers.enumerated() {
                if number.isMultiple(of: 2) { reader.reset() } else { reader.close() }
            }
            try await Task.sleep(for: .milliseconds(700))
            async let waiting = ask("GET", "/v1/events?after=0&wait=60s")
            // One that had no place would have been answered by now.
            try await Task.sleep(for: .milliseconds(1500))
            let reset = Event(id: EventID(milliseconds: 9, number: 1), content: .reset, at: Timestamp(milliseconds: 9))
            node.change { $0.events = [reset] }
            #expect(try await waiting.body.contains("9-1"))
            #expect(try await ask("GET", "/v1/events?after=latest").body == #"{"events":[],"next":"9-1"}"#)
        }
    }

    @Test("as many requests wait as may; a further one is answered after a second, and all when the worker stops")
    func manyWaiting() async throws {
        node.change { $0.events = [] }
        try await withAdmin(node) { ask in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0...32 {
                    group.addTask { try await Self.waitForEvents(on: ask.port) }
                }
                let (start, nothing) = (ContinuousClock.now, #"200 OK {"events":[],"next":"0-0"}"#)
                #expect(try await group.next() == nothing)
                #expect(.now - start < .seconds(50), "the 33rd does not wait")
                node.change { $0.isDraining = true }
                for try await answer in group { #expect(answer == nothing) }
                #expect(.now - start < .seconds(55), "the others have not waited to the end")
            }
        }
    }

    /// On a connection of its own, since the system's client has few.
    private static func waitForEvents(on port: Int) async throws -> String {
        let address = try #require(HTTPAddress("http://127.0.0.1:\(port)"))
        var client = HTTPClient(address, tls: nil)
        client.deadline = .seconds(60)
        let answer = try await client.send(.GET, "/v1/events?wait=60s")
        return "\(answer.status) " + String(buffer: answer.body)
    }

    @Test("whom to push is answered in the order of the request, and in doubt with push")
    func reach() async throws {
        let record = PresenceRecord(
            user: try UserID("alice"),
            devices: [try DeviceID("phone"): try #require(DeviceRecord("active w1.a 5-b 1 2 0"))],
            lastSeen: Timestamp(milliseconds: 5), updatedAt: Timestamp(milliseconds: 5), version: 1)
        node.change { $0.records[record.user] = record }
        try await withAdmin(node) { ask in
            let asked = try await ask("POST", "/v1/reach", #"{"users":["bob","alice"]}"#)
            #expect(
                asked.body
                    == #"{"users":[{"advice":"push","known":false,"user":"bob"},{"advice":"skip","user":"alice"}]}"#)
            #expect(try await ask("POST", "/v1/reach", #"{"users":"alice"}"#).problem == "bad_request")
            let many = Array(repeating: #""alice""#, count: 1001).joined(separator: ",")
            #expect(try await ask("POST", "/v1/reach", #"{"users":[\#(many)]}"#).problem == "limit")
        }
    }

    @Test("a server says that a user types, what and how long, and that it has ended")
    func serverTyping() async throws {
        try await withAdmin(node) { ask in
            let path = "/v1/conversations/c42/typing/ada"
            #expect(try await ask("PUT", path, #"{"kind":"thinking","for":"30s"}"#).status == 204)
            #expect(try await ask("PUT", path).status == 204)
            #expect(try await ask("DELETE", path).status == 204)
            for body in [#"{"for":"301s"}"#, #"{"for":"0"}"#, #"{"for":30}"#, #"{"kind":1}"#, "[]"] {
                #expect(try await ask("PUT", path, body).problem == "bad_request", "\(body)")
            }
            #expect(
                node.done == [
                    "ada thinking in c42 for 30.0 seconds", "ada typing in c42 for 10.0 seconds", "ada stops in c42",
                ])
            node.change { $0.failure = BackendRefusal.notAMember }
            #expect(try await ask("PUT", path).status == 409)
            node.change { $0.failure = BackendRefusal.tooMany }
            let refused = try await ask("PUT", path)
            #expect(refused.status == 429 && refused.problem == "too_many" && refused.headers["retry-after"] == "1")
        }
    }

    @Test("who is here is returned as in the here message, and a server shows a user as being here")
    func here() async throws {
        let bob = HereUser(
            user: try UserID("bob"), name: "Bob", since: Timestamp(milliseconds: 5), isIdle: true,
            data: HereData(stored: #"{"a":1}"#))
        let conversation = try ConversationID("c42")
        node.change { $0.here[conversation] = .init(conversation: conversation, users: [bob], count: 7) }
        try await withAdmin(node) { ask in
            let all = try await ask("GET", "/v1/conversations/c42/here").body
            #expect(
                all == #"{"conversation":"c42","count":7,"users":[{"data":{"a":1},"idle":true,"#
                    + #""name":"Bob","since":5,"user":"bob"}]}"#)
            let path = "/v1/conversations/c42/here/ada"
            #expect(try await ask("PUT", path, #"{"data":{ "a" : 1 },"for":"30s","name":"Ada"}"#).status == 204)
            #expect(try await ask("PUT", path).status == 204)
            #expect(try await ask("DELETE", path).status == 204)
            #expect(try await ask("PUT", path, #"{"data":{"a":1000000}}"#).problem == "limit")
            for body in [#"{"for":"301s"}"#, #"{"data":[]}"#, #"{"data":"x"}"#, "[]"] {
                #expect(try await ask("PUT", path, body).problem == "bad_request", "\(body)")
            }
            #expect(
                node.done == [
                    #"ada {"a":1} Ada in c42 for 30.0 seconds"#, "ada in c42 for 10.0 seconds", "ada leaves c42",
                ])
            node.change { $0.failure = BackendRefusal.notAMember }
            #expect(try await ask("PUT", path).status == 409)
        }
    }

    @Test("up to a thousand users can be requested at once")
    func thousand() async throws {
        try await withAdmin(node) { ask in
            func body(_ count: Int) -> String {
                #"{"users":["# + (0..<count).map { "\"user-\($0)\"" }.joined(separator: ",") + "]}"
            }
            let answer = try await ask("POST", "/v1/presence", body(1000))
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""user":"user-999""#))
            let refused = try await ask("POST", "/v1/presence", body(1001))
            #expect(refused.status == 400)
            #expect(refused.problem == "limit")
        }
    }

    @Test("typing is returned as in the typing message")
    func typing() async throws {
        let conversation = try ConversationID("c42")
        let typists = [Typist(user: try UserID("bob"), name: "Bob"), Typist(user: try UserID("eve"))]
        node.change { $0.typing[conversation] = typists }
        try await withAdmin(node) { ask in
            let some = try await ask("GET", "/v1/conversations/c42/typing").body
            #expect(
                some == #"{"conversation":"c42","count":2,"users":[{"name":"Bob","user":"bob"},{"user":"eve"}]}"#)
            let none = try await ask("GET", "/v1/conversations/quiet/typing").body
            #expect(none == #"{"conversation":"quiet","count":0,"users":[]}"#)
        }
    }

    @Test("members are set, read, changed one by one, and deleted")
    func members() async throws {
        try await withAdmin(node) { ask in
            let all = "/v1/conversations/c42/members"
            #expect(try await ask("GET", all).problem == "not_managed")
            let set = try await ask("PUT", all, #"{"members":{"bob":"Bob","alice":"Älice \"A\""}}"#)
            #expect(set.status == 204)
            #expect(set.body.isEmpty)
            #expect(try await ask("GET", all).body == #"{"members":{"alice":"Älice \"A\"","bob":"Bob"}}"#)
            #expect(try await ask("PUT", all + "/eve", #"{"name":""}"#).status == 204)
            #expect(try await ask("DELETE", all + "/bob").status == 204)
            #expect(try await ask("GET", all).body == #"{"members":{"alice":"Älice \"A\"","eve":""}}"#)
            #expect(try await ask("PUT", all, #"{"members":{}}"#).status == 204)
            #expect(try await ask("GET", all).body == #"{"members":{}}"#)
            #expect(try await ask("DELETE", all).status == 204)
            #expect(try await ask("GET", all).status == 404)
        }
    }

    @Test("names in paths and queries are percent-encoded, each separately")
    func encoded() async throws {
        try await withAdmin(node) { ask in
            let path = "/v1/conversations/a%2Fb/members/x%2Fmembers%3F%C3%A9+%2B%25"
            #expect(try await ask("PUT", path, #"{"name":"X"}"#).status == 204)
            let expected = [try ConversationID("a/b"): [try UserID("x/members?é++%"): "X"]]
            #expect(node.members == expected)
            // Neither an encoded slash nor a dot segment affects routing.
            #expect(try await ask("GET", "/v1/conversations/a/b/members").status == 404)
            #expect(try await ask("GET", "/v1/conversations/%2e%2e/typing").body.contains(#""conversation":"..""#))
            let users = try await ask("GET", "/v1/presence?user=a%2Fb%26c%3Dd&other=1&user=e+f").body
            #expect(users.contains(#""user":"a/b&c=d""#))
            #expect(users.contains(#""user":"e+f""#))
            #expect(!users.contains("other"))
        }
    }

    @Test("two names that only look the same are different")
    func bytes() async throws {
        try await withAdmin(node) { ask in
            _ = try await ask("PUT", "/v1/conversations/caf%C3%A9/members", #"{"members":{"a":"A"}}"#)
            #expect(try await ask("GET", "/v1/conversations/caf%C3%A9/members").status == 200)
            #expect(try await ask("GET", "/v1/conversations/cafe%CC%81/members").status == 404)
        }
    }

    @Test(
        "an invalid request is refused with a reason",
        arguments: [
            ("GET", "/v1/presence", nil), ("GET", "/v1/presence?users=a", nil), ("GET", "/v1/presence?user=", nil),
            ("GET", "/v1/presence?user=a%20b", nil), ("GET", "/v1/presence?user=%C3", nil),
            ("GET", "/v1/presence?user=%7Ba", nil),
            ("GET", "/v1/conversations/%00/typing", nil),
            ("POST", "/v1/presence", ""), ("POST", "/v1/presence", "nonsense"), ("POST", "/v1/presence", "[]"),
            ("POST", "/v1/presence", "{}"), ("POST", "/v1/presence", #"{"users":"a"}"#),
            ("POST", "/v1/presence", #"{"users":["a b"]}"#), ("POST", "/v1/presence", #"{"users":[7]}"#),
            ("PUT", "/v1/conversations/c/members", #"{"members":{"a b":"A"}}"#),
            ("PUT", "/v1/conversations/c/members", #"{"members":{"a":7}}"#),
            ("PUT", "/v1/conversations/c/members", #"{"members":["a"]}"#),
            ("PUT", "/v1/conversations/c/members/a", "{}"),
            ("PUT", "/v1/conversations/c/members/a", #"{"name":"a\u0000b"}"#),
            ("PUT", "/v1/conversations/c/members/a", #"{"name":"\#(String(repeating: "x", count: 257))"}"#),
        ] as [(String, String, String?)])
    func badRequests(method: String, path: String, body: String?) async throws {
        try await withAdmin(node) { ask in
            let answer = try await ask(method, path, body)
            #expect(answer.status == 400)
            #expect(answer.problem == "bad_request")
        }
        #expect(node.members.isEmpty)
    }

    @Test("unknown paths return 404, and wrong methods the permitted ones")
    func notFound() async throws {
        try await withAdmin(node) { ask in
            for path in [
                "/", "/v1", "/v1/presence/", "/v2/presence", "/v1/conversations/c", "/health/x", "//health",
                "/v1/conversations//typing", "/v1/users/",
            ] {
                let answer = try await ask("GET", path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.problem == "not_found", "\(path)")
            }
            for (method, path, allowed) in [
                ("POST", "/health", "GET, HEAD, OPTIONS"), ("DELETE", "/v1/presence", "GET, HEAD, POST"),
                ("PUT", "/v1/conversations/c/typing", "GET, HEAD"),
                ("POST", "/v1/conversations/c/members", "GET, HEAD, PUT, DELETE"),
                ("GET", "/v1/conversations/c/members/a", "PUT, DELETE"),
            ] {
                let answer = try await ask(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.problem == "method_not_allowed")
                #expect(answer.headers["allow"] == allowed)
            }
        }
    }

    @Test("a name that was left empty does not make a request another one")
    func emptyNames() async throws {
        try await withAdmin(node) { ask async throws in
            let all = "/v1/conversations/c/members"
            #expect(try await ask("PUT", all, #"{"members":{"alice":"Alice"}}"#).status == 204)
            for path in [all + "/", "/v1/users//sessions", "/v1/users/", "/v1//users/alice"] {
                #expect(try await ask("DELETE", path).problem == "not_found", "\(path)")
            }
            #expect(node.members.count == 1 && node.done.isEmpty)
        }
    }

    @Test("a body beyond the limit is refused, with or without a declared length")
    func tooLarge() async throws {
        try await withAdmin(node) { ask in
            let answer = try await ask(
                "POST", "/v1/presence", String(repeating: " ", count: AdminCall.mostBytes + 1))
            #expect(answer.status == 413)
            #expect(answer.problem == "too_large")
            #expect(try await ask("GET", "/health").status == 200)
        }
    }

    @Test("while Redis is away, requests that need it are answered with a retry time")
    func unavailable() async throws {
        node.change { $0.failure = Unavailable(retryAfter: .milliseconds(1500)) }
        try await withAdmin(node) { ask in
            for (method, path, body) in [
                ("GET", "/v1/presence?user=a", nil), ("GET", "/v1/conversations/c/typing", nil),
                ("GET", "/v1/conversations/c/members", nil), ("DELETE", "/v1/conversations/c/members", nil),
                ("PUT", "/v1/conversations/c/members/a", #"{"name":"A"}"#),
            ] as [(String, String, String?)] {
                let answer = try await ask(method, path, body)
                #expect(answer.status == 503)
                #expect(answer.problem == "unavailable")
                #expect(answer.headers["retry-after"] == "2")
            }
        }
    }

    @Test("an error of the node is not shown to the caller")
    func internalError() async throws {
        struct Mishap: Error { let secret = "hunter2" }
        node.change { $0.failure = Mishap() }
        try await withAdmin(node) { ask in
            let answer = try await ask("GET", "/v1/presence?user=a")
            #expect(answer.status == 500)
            #expect(answer.problem == "internal")
            #expect(!answer.body.contains("hunter2"))
        }
    }

    @Test("if a token is configured, only health and readiness work without it")
    func token() async throws {
        let token = "0123456789abcdef"
        try await withAdmin(node, token: token) { ask in
            #expect(try await ask("GET", "/v1/presence?user=a").status == 200)
            #expect(try await ask("GET", "/nowhere").status == 404)
            let stranger = AdminClient(port: ask.port)
            #expect(try await stranger("GET", "/health").status == 200)
            #expect(try await stranger("GET", "/ready").status == 200)
            for path in ["/v1/presence?user=a", "/v1/conversations/c/members", "/nowhere", "/health/x"] {
                let answer = try await stranger("GET", path)
                #expect(answer.status == 401, "\(path)")
                #expect(answer.problem == "unauthorized")
                #expect(answer.headers["www-authenticate"] == "Bearer")
            }
            for (shown, status) in [
                ("bearer \(token)", 200), ("Bearer  \(token)", 200), ("Bearer \(token)x", 401),
                ("Bearer \(token.dropLast())", 401), ("Basic \(token)", 401), (token, 401), ("Bearer", 401),
                ("Bearer \(token) x", 401),
            ] {
                let answer = try await stranger("GET", "/v1/presence?user=a", headers: ["Authorization": shown])
                #expect(answer.status == status, "\(shown)")
            }
        }
    }

    @Test("a port in use is reported with its host and number")
    func takenPort() async throws {
        try await withAdmin(node) { ask in
            var configuration = WorkerConfiguration.Admin()
            configuration.port = ask.port
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let second = AdminServer(
                configuration, node: node, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
            let error = try await #require(throws: ListenError.self) { try await second.run() }
            #expect(error.code == .portTaken)
            #expect(error.description == "The admin port cannot listen on 127.0.0.1:\(ask.port): another program does.")
        }
    }

    @Test("a host that does not belong to this machine is reported")
    func foreignHost() async throws {
        var configuration = WorkerConfiguration.Admin()
        configuration.host = "192.0.2.1"
        configuration.port = 0
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = AdminServer(
            configuration, node: node, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        let error = try await #require(throws: ListenError.self) { try await server.run() }
        #expect(error.code == .noSuchAddress)
    }
}
