// Text whose combining marks stand in falling class: what normalises it before it compares, hashes or matches takes the
// square of its length. It is sent to every place where a stranger's text can go, and may cost a worker no more than plain
// text of the same length.

internal import Foundation
internal import Harness
internal import TestSupport

/// A place where a stranger's text can go.
public struct CostlyPlace: Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable { case field, claim, header, admin, key, channel }

    /// How a text gets there.
    fileprivate enum Way: Sendable {
        /// A frame before the hello, or of a session.
        case frame(Attack.Stage, @Sendable (String) -> String)
        /// A request to the edge, or to the admin port.
        case request(toAdmin: Bool, @Sendable (String) -> String)
        /// Commands to Redis, and the message of a session that makes its worker read what they wrote.
        case redis(read: String?, @Sendable (String) -> [[String]])
    }

    public let kind: Kind
    /// What the docs call it.
    public let name: String
    public let description: String
    /// The text's length in bytes.
    fileprivate let size: Int
    fileprivate let way: Way

    public static let all = fields + claims + headers + admin + channels + keys
    /// The most that one text may cost beyond a plain one of its length, in microseconds of processor time.
    public static let most = 2000.0

    private init(_ kind: Kind, _ name: String, _ size: Int, _ way: Way, of part: String = "") {
        (self.kind, self.name, self.size, self.way) = (kind, name, size, way)
        description = part.isEmpty ? "\(kind) \(name)" : "\(kind) \(name) of \(part)"
    }

    fileprivate var isSigned: Bool { kind == .claim }
    /// Whether only a worker that asks an app's server reads it.
    fileprivate var isOfAccess: Bool { name.hasPrefix("access:") || name == "ask" || name == "people" }

    private static let fields: [CostlyPlace] = {
        let session = [
            ("type", #"{"type":"X"}"#), ("id", #"{"type":"ping","id":"X"}"#),
            ("token", #"{"type":"token","token":"X"}"#),
            ("state", #"{"type":"state","state":"X"}"#), ("users", #"{"type":"watch","users":["X"]}"#),
            ("users", #"{"type":"unwatch","users":["X"]}"#), ("users", #"{"type":"get","users":["X"]}"#),
            ("conversation", #"{"type":"join","conversation":"X"}"#),
            ("conversation", #"{"type":"leave","conversation":"X"}"#),
            ("presence", #"{"type":"join","conversation":"c","presence":"X"}"#),
            ("conversation", #"{"type":"typing","conversation":"X","typing":true}"#),
            ("typing", #"{"type":"typing","conversation":"c","typing":"X"}"#),
            ("kind", #"{"type":"typing","conversation":"c","typing":true,"kind":"X"}"#),
            ("here", #"{"type":"join","conversation":"c","here":"X"}"#),
            ("conversation", #"{"type":"enter","conversation":"X"}"#),
            ("data", #"{"type":"enter","conversation":"c","data":"X"}"#),
            ("data", #"{"type":"enter","conversation":"c","data":{"X":"X"}}"#),
            ("conversation", #"{"type":"exit","conversation":"X"}"#),
            ("presence", #"{"type":"person","presence":"X"}"#), ("last_seen", #"{"type":"person","last_seen":"X"}"#),
            ("availability", #"{"type":"person","availability":"X"}"#), ("text", #"{"type":"person","text":"X"}"#),
            ("emoji", #"{"type":"person","emoji":"X"}"#), ("until", #"{"type":"person","until":"X"}"#),
            ("for", #"{"type":"person","for":"X"}"#),
            ("an unknown name", #"{"type":"ping","X":1}"#), ("an unknown text", #"{"type":"ping","x":"X"}"#),
        ]
        let hello = [
            ("type", #"{"type":"X"}"#), ("id", #"{"type":"hello","token":"a","device":"d","id":"X"}"#),
            ("token", #"{"type":"hello","token":"X","device":"d"}"#),
            ("device", #"{"type":"hello","token":"a","device":"X"}"#),
            ("state", #"{"type":"hello","token":"a","device":"d","state":"X"}"#),
            ("user", #"{"type":"hello","token":"a","device":"d","user":"X"}"#),
            ("an unknown name", #"{"type":"hello","token":"a","device":"d","X":1}"#),
        ]
        return session.map { name, form in
            CostlyPlace(.field, name, 64_000, .frame(.session) { form.replacing("X", with: $0) }, of: form)
        }
            + hello.map { name, form in
                CostlyPlace(.field, name, 16_000, .frame(.upgraded) { form.replacing("X", with: $0) }, of: form)
            }
    }()

    private static let claims: [CostlyPlace] = {
        @Sendable func hello(_ header: String, _ claims: String) -> String {
            let token = Attack.signed(header, claims: claims, Attack.mac(Data(AttackedKeys.secret.utf8)))
            return #"{"type":"hello","token":"\#(token)","device":"d"}"#
        }
        let claims = [
            ("sub", #"{"sub":"X","iat":1,"exp":9e9}"#), ("iat", #"{"sub":"a","iat":"X","exp":9e9}"#),
            ("exp", #"{"sub":"a","iat":1,"exp":"X"}"#), ("nbf", #"{"sub":"a","iat":1,"exp":9e9,"nbf":"X"}"#),
            ("iss", #"{"sub":"a","iat":1,"exp":9e9,"iss":"X"}"#), ("aud", #"{"sub":"a","iat":1,"exp":9e9,"aud":"X"}"#),
            ("aud", #"{"sub":"a","iat":1,"exp":9e9,"aud":["X","X"]}"#),
            ("device", #"{"sub":"a","iat":1,"exp":9e9,"device":"X"}"#),
            ("name", #"{"sub":"a","iat":1,"exp":9e9,"name":"X"}"#),
            ("join", #"{"sub":"a","iat":1,"exp":9e9,"join":"X"}"#),
            ("join", #"{"sub":"a","iat":1,"exp":9e9,"join":["X*","X"]}"#),
            ("watch", #"{"sub":"a","iat":1,"exp":9e9,"watch":["X*","X"]}"#),
            ("an unknown name", #"{"sub":"a","exp":9e9,"X":1}"#),
        ]
        let header = [
            ("alg", #"{"alg":"X"}"#), ("kid", #"{"alg":"HS256","kid":"X"}"#), ("kid", #"{"alg":"RS256","kid":"X"}"#),
            ("typ", #"{"alg":"HS256","typ":"X"}"#), ("crit", #"{"alg":"HS256","crit":["X"]}"#),
            ("an unknown name", #"{"alg":"HS256","X":1}"#),
        ]
        return claims.map { name, form in
            CostlyPlace(
                .claim, name, 10_000,
                .frame(.upgraded) { hello(#"{"alg":"HS256"}"#, form.replacing("X", with: $0)) }, of: form)
        }
            + header.map { name, form in
                CostlyPlace(
                    .claim, name, 10_000,
                    .frame(.upgraded) { hello(form.replacing("X", with: $0), #"{"sub":"a","iat":1,"exp":9e9}"#) },
                    of: form)
            }
    }()

    private static let headers: [CostlyPlace] =
        [
            "upgrade", "connection", "content-length", "sec-websocket-version", "host", "sec-websocket-key", "origin",
            "x-forwarded-for", "authorization", "cookie", "transfer-encoding", "user-agent",
        ].map { name in
            CostlyPlace(
                .header, name, 7000, .request(toAdmin: false) { Stranger.request("\(Self.get)\r\n\(name): \($0)") })
        } + [
            CostlyPlace(.header, "the path", 7000, .request(toAdmin: false) { Stranger.request("GET /\($0) HTTP/1.1") })
        ]

    private static let get = "GET /v1/connect HTTP/1.1"

    private static let admin: [CostlyPlace] = {
        @Sendable func request(_ line: String, _ header: String = "", _ body: String = "") -> String {
            "\(line) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(header)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        @Sendable func encoded(_ text: String) -> String {
            text.utf8.map { "%" + String($0, radix: 16) }.joined()
        }
        let paths = [
            ("user", "GET /v1/users/X"), ("conversation", "GET /v1/conversations/X/typing"), ("file", "GET /live/X"),
            ("device", "DELETE /v1/users/a/sessions?device=X"), ("other", "PUT /v1/users/a/blocked/X"),
            ("conversation", "DELETE /v1/users/a?conversation=X"),
            ("user", "GET /v1/presence?user=X"), ("as", "GET /v1/presence?user=a&as=X"),
            ("in", "GET /v1/presence?user=a&as=b&in=X"), ("cursor", "GET /v1/conversations/c/members?cursor=X"),
            ("limit", "GET /v1/conversations/c/members?limit=X"), ("an unknown parameter", "DELETE /v1/users/a?X=1"),
            ("redis", "GET /ready?redis=X"), ("after", "GET /v1/events?after=X"), ("wait", "GET /v1/events?wait=X"),
            ("an unknown path", "GET /X"),
        ]
        let bodies = [
            ("users", "POST /v1/presence", #"{"users":["X"]}"#),
            ("kind", "PUT /v1/conversations/c/typing/a", #"{"kind":"X"}"#),
            ("for", "PUT /v1/conversations/c/typing/a", #"{"for":"X"}"#),
            ("name", "PUT /v1/conversations/c/typing/a", #"{"name":"X"}"#),
            ("data", "PUT /v1/conversations/c/here/a", #"{"data":{"X":"X"}}"#),
            ("text", "PATCH /v1/users/a/person", #"{"text":"X"}"#),
            ("availability", "PATCH /v1/users/a/person", #"{"availability":"X"}"#),
            ("blocked", "PUT /v1/users/a/person", #"{"blocked":["X"]}"#),
            ("stored", "POST /v1/presence", #"{"users":["a"],"stored":"X"}"#),
            ("as", "POST /v1/presence", #"{"users":["a"],"as":"X"}"#),
            ("in", "POST /v1/presence", #"{"users":["a"],"as":"b","in":"X"}"#),
            ("users", "POST /v1/reach", #"{"users":["X"]}"#),
            ("members", "PUT /v1/conversations/c/members", #"{"members":{"X":"a"}}"#),
            ("members", "PUT /v1/conversations/c/members", #"{"members":{"a":"X"}}"#),
            ("name", "PUT /v1/conversations/c/members/a", #"{"name":"X"}"#),
            ("an unknown field", "POST /v1/presence", #"{"X":["a"],"users":[]}"#),
        ]
        let headers = ["Authorization", "Origin", "X-Forwarded-For", "Forwarded", "Cookie", "Accept"]
        return paths.flatMap { name, line in
            [
                CostlyPlace(
                    .admin, name, 7000, .request(toAdmin: true) { request(line.replacing("X", with: $0)) }, of: line),
                CostlyPlace(
                    .admin, name, 20_000, .request(toAdmin: true) { request(line.replacing("X", with: encoded($0))) },
                    of: "\(line), encoded"),
            ]
        }
            + bodies.map { name, line, body in
                CostlyPlace(
                    .admin, name, 64_000, .request(toAdmin: true) { request(line, "", body.replacing("X", with: $0)) },
                    of: body)
            }
            + headers.map { name in
                CostlyPlace(
                    .admin, name, 7000, .request(toAdmin: true) { request("GET /v1/workers", "\(name): \($0)\r\n") })
            }
    }()

    private static let channels: [CostlyPlace] = [
        ("user", "typing:{c}", #"{"user":"X","typing":true,"expires_in":3000,"at":1}"#),
        ("typing", "typing:{c}", #"{"user":"a","typing":"X","at":1}"#),
        ("expires_in", "typing:{c}", #"{"user":"a","typing":true,"expires_in":"X","at":1}"#),
        ("name", "typing:{c}", #"{"user":"a","typing":true,"expires_in":3000,"at":9000000000000,"name":"X"}"#),
        ("kind", "typing:{c}", #"{"user":"a","typing":true,"expires_in":3000,"at":9000000000000,"kind":"X"}"#),
        ("user", "presence:{target}", #"{"user":"X","status":"online","updated_at":1,"version":1,"at":1}"#),
        (
            "name", "presence:{target}",
            #"{"user":"target","name":"X","status":"online","updated_at":1,"version":1,"at":1}"#
        ),
        ("status", "presence:{target}", #"{"user":"target","status":"X","last_seen":1,"updated_at":1,"version":1}"#),
        ("last_seen", "presence:{target}", #"{"user":"target","status":"away","last_seen":"X","version":1}"#),
        ("updated_at", "presence:{target}", #"{"user":"target","status":"away","updated_at":"X","version":1}"#),
        ("version", "presence:{target}", #"{"user":"target","status":"away","updated_at":1,"version":"X"}"#),
        ("devices", "presence:{target}", #"{"user":"target","status":"away","devices":"X"}"#),
        ("at", "presence:{target}", #"{"user":"target","at":"X"}"#),
        ("person", "presence:{target}", #"{"user":"target","status":"away","updated_at":1,"version":1,"person":"X"}"#),
        ("text", "presence:{target}", #"{"user":"target","person":{"text":"X","blocks":0,"revision":9},"at":1}"#),
        ("emoji", "presence:{target}", #"{"user":"target","person":{"emoji":"X","blocks":0,"revision":10},"at":1}"#),
        (
            "availability", "presence:{target}",
            #"{"user":"target","person":{"availability":"X","blocks":0,"revision":11},"at":1}"#
        ),
        ("presence", "presence:{target}", #"{"user":"target","person":{"presence":"X","revision":11},"at":1}"#),
        ("until", "presence:{target}", #"{"user":"target","person":{"until":"X","revision":11},"at":1}"#),
        ("unseen", "presence:{target}", #"{"user":"target","person":{"unseen":"X","revision":11},"at":1}"#),
        ("blocks", "presence:{target}", #"{"user":"target","person":{"blocks":"X","revision":11},"at":1}"#),
        ("revision", "presence:{target}", #"{"user":"target","person":{"revision":"X"},"at":1}"#),
        ("block", "presence:{target}", #"{"user":"target","person":{"revision":12},"block":"X","was":0,"at":1}"#),
        ("unblock", "presence:{target}", #"{"user":"target","person":{"revision":13},"unblock":"X","was":0,"at":1}"#),
        ("was", "presence:{target}", #"{"user":"target","person":{"revision":14},"block":"a","was":"X","at":1}"#),
        ("member", "members:{c}", #"{"user":"a","member":"X"}"#),
        ("name", "members:{c}", #"{"user":"a","member":true,"name":"X","count":1}"#),
        ("count", "members:{c}", #"{"user":"a","member":false,"count":"X"}"#),
        ("reset", "members:{c}", #"{"reset":"X"}"#),
        ("ask", "members:{c}", #"{"ask":"X"}"#), ("people", "members:{c}", #"{"people":"X"}"#),
        ("user", "here:{c}", #"{"user":"X","here":false,"count":1,"at":9000000000000,"sessions":0,"exit":false}"#),
        ("here", "here:{c}", #"{"user":"a","here":"X"}"#),
        (
            "name", "here:{c}",
            #"{"user":"a","here":true,"name":"X","since":1,"idle":false,"count":1,"at":9000000000000,"sessions":1,"exit":false}"#
        ),
        (
            "since", "here:{c}",
            #"{"user":"a","here":true,"since":"X","idle":false,"count":1,"at":1,"sessions":1,"exit":false}"#
        ),
        (
            "idle", "here:{c}",
            #"{"user":"a","here":true,"since":1,"idle":"X","count":1,"at":1,"sessions":1,"exit":false}"#
        ),
        (
            "data", "here:{c}",
            #"{"user":"a","here":true,"since":1,"idle":false,"data":{"X":"X"},"count":1,"at":9000000000000,"sessions":1,"exit":false}"#
        ),
        ("replaced", "worker:{WORKER}", #"{"replaced":"a b X"}"#),
        ("replaced", "worker:{WORKER}", #"{"replaced":"X b c-d"}"#),
        ("sent_away", "worker:{WORKER}", #"{"sent_away":"a b c-X"}"#),
        ("person", "worker:{WORKER}", #"{"person":"X 5"}"#), ("person", "worker:{WORKER}", #"{"person":"stranger X"}"#),
        ("beat", "worker:{WORKER}", #"{"beat":"X"}"#), ("an unknown name", "worker:{WORKER}", #"{"X":"a"}"#),
    ].map { name, channel, form in
        CostlyPlace(
            .channel, name, 64_000, .redis(read: nil) { [["PUBLISH", channel, form.replacing("X", with: $0)]] },
            of: "\(channel) \(form)")
    }

    private static let keys: [CostlyPlace] = {
        let get = #"{"type":"get","users":["u"],"id":1}"#
        let join = #"{"type":"join","conversation":"k","presence":true,"here":true,"id":1}"#
        let dead = ["ZADD", "{workers}", "1", "dead.1"]
        let places: [(String, String?, @Sendable (String) -> [[String]])] = [
            ("presence:{USER}", get, { [["HSET", "presence:{u}", "status", $0, "last_seen", $0, "updated_at", "1"]] }),
            ("presence:{USER}", get, { [["HSET", "presence:{u}", "updated_at", "1", "name", $0, "named", $0]] }),
            ("presence:{USER}", get, { [["HSET", "presence:{u}", $0, "1", "device:\($0)", "active w.1 1-a 1 1 0"]] }),
            ("presence:{USER}", get, { [["HSET", "presence:{u}", "device:d", "\($0) \($0) 1-\($0) 1 1 0"]] }),
            (
                "person:{USER}", get,
                {
                    [
                        ["HSET", "presence:{u}", "updated_at", "1", "person", "1"],
                        ["HSET", "person:{u}", "revision", "1", "text", $0, "presence", "shared", "block:\($0)", $0],
                    ]
                }
            ),
            (
                "members:{CONVERSATION}", join,
                { [["HSET", "members:{k}", "{managed}", "1", "stranger", "1", "a", $0, $0, "b"]] }
            ),
            (
                "access:{CONVERSATION}", join,
                { [["ZADD", "access:{k}", soon(), "stranger", soon(), $0, soon(), " \($0)"]] }
            ),
            (
                "access:{CONVERSATION}:people", join,
                { [["ZADD", "access:{k}", soon(), "stranger"], ["SET", "access:{k}:people", "stranger \($0)"]] }
            ),
            (
                "typing:{CONVERSATION}", join,
                { [["ZADD", "typing:{k}", "9000000000000", "\($0) d", "9000000000000", "a \($0)"]] }
            ),
            ("typing:{CONVERSATION}:USER", join, { [["SET", "typing:{k}:stranger", $0]] }),
            (
                "typing:{CONVERSATION}:USER", join,
                {
                    [
                        ["ZADD", "typing:{k}", "9000000000000", "a d"],
                        ["SET", "typing:{k}:a", "d{\($0)} \($0)\t\($0)"],
                    ]
                }
            ),
            (
                "here:{CONVERSATION}", join,
                {
                    [
                        ["ZADD", "here:{k}:since", "1", "a"],
                        ["HSET", "here:{k}", "a", "d\tw.1\t1-\($0)\t1\tactive\t\($0)\t{\"\($0)\":1}"],
                    ]
                }
            ),
            (
                "here:{CONVERSATION}:since", join,
                { [["ZADD", "here:{k}:since", "1", $0], ["HSET", "here:{k}", $0, "d\tw.1\t1-a\t1\tactive\t\t"]] }
            ),
            ("revoked:{USER}", nil, { [["SET", "revoked:{stranger}", $0], ["DEL", "revoked:{stranger}"]] }),
            ("{workers}", nil, { [["ZADD", "{workers}", "9000000000000", $0]] }),
            ("{workers}:INCARNATION", get, { [dead, ["HSET", "{workers}:dead.1", "edge", $0, "beat", $0, $0, "1"]] }),
            (
                "worker:{INCARNATION}:sessions", nil,
                { [["SADD", "worker:{dead.1}:sessions", "\($0) b c", "a b \($0)"], dead] }
            ),
            (
                "worker:{INCARNATION}:here", nil,
                {
                    [
                        [
                            "SADD", "worker:{dead.1}:here", "\($0) b 1-a c", "a \($0) 1-a c", "a b \($0) c",
                            "a b 1-a \($0)",
                        ],
                        dead,
                    ]
                }
            ),
            ("worker:{INCARNATION}:sweeper", nil, { [["SET", "worker:{dead.1}:sweeper", $0, "PX", "500"], dead] }),
            ("events", nil, { [["XADD", "events", "MAXLEN", "10", "*", "user", $0]] }),
            ("events:state", nil, { [["HSET", "events:state", "run", $0]] }),
        ]
        // Three times that is about what an argument of redis-cli can have.
        return places.map { CostlyPlace(.key, $0, 40_000, .redis(read: $1, $2)) }
    }()
}

/// In an hour, as `access:{CONVERSATION}` has it.
private func soon() -> String { String(Int(Date.now.timeIntervalSince1970 + 3600) * 1000) }

/// Three workers that measure what a text costs: one takes names for tokens, one signed tokens, and one would ask an app's
/// server.
public final class Scales: Sendable {
    private let sieges: (open: Siege, signed: Siege, asking: Siege)

    public init() async throws {
        sieges = (
            try await Siege(signedTokens: false), try await Siege(signedTokens: true),
            try await Siege(signedTokens: false, asks: true)
        )
        try await sieges.asking.redis.cli("ZADD", "access:{c}", soon(), "stranger")
    }

    /// The processor time that a costly text takes beyond a plain one of the same length, in microseconds.
    ///
    /// - Parameter hasMarks: whether the plain text has the same marks, in the order that costs nothing. A program that is
    ///   not optimised takes long for each character that is not ASCII.
    public func excess(at place: CostlyPlace, times: Int = 3, overMarks hasMarks: Bool = false) async throws -> Double {
        let marks: [Unicode.Scalar] = [
            "\u{345}", "\u{35D}", "\u{35C}", "\u{315}", "\u{301}", "\u{316}", "\u{31B}", "\u{327}", "\u{323}",
            "\u{338}", "\u{334}",
        ]
        func text(_ marks: [Unicode.Scalar]) -> String {
            marks.map { String(repeating: String($0), count: place.size / marks.count / 2) }.joined()
        }
        let costly = text(marks)
        let rising = marks.sorted {
            $0.properties.canonicalCombiningClass < $1.properties.canonicalCombiningClass
        }
        let plain = hasMarks ? text(rising) : String(repeating: "x", count: costly.utf8.count)
        // The least of several, since the first of a kind is the slowest, and whatever else the machine does only adds.
        var costs = (costly: Double.infinity, plain: Double.infinity)
        for _ in 0..<times {
            costs.plain = min(costs.plain, try await cost(of: plain, at: place, times))
            costs.costly = min(costs.costly, try await cost(of: costly, at: place, times))
        }
        return costs.costly - costs.plain
    }

    private func cost(of text: String, at place: CostlyPlace, _ times: Int) async throws -> Double {
        let siege = place.isSigned ? sieges.signed : place.isOfAccess ? sieges.asking : sieges.open
        let worker = siege.worker
        switch place.way {
        case .frame(let stage, let form):
            let frame = form(text)
            return try await spent(worker, times) { _ = try $0.send(frame, at: stage) }
        case .request(let toAdmin, let form):
            let (request, port) = (Array(form(text).utf8), toAdmin ? worker.adminPort : worker.port)
            return try await spent(worker, times) { _ in
                let stranger = try Stranger(port: port)
                stranger.send(request)
                _ = stranger.httpStatus()
            }
        case .redis(let read, let commands):
            let visitor = Visitor(port: worker.port)
            let onlooker = try await blocking { try Handed(visitor.enter()) }
            // To search a costly text for a word takes long, too.
            let commands = commands(text).map {
                $0.map { $0.utf8.count > 100 ? $0 : $0.replacing("WORKER", with: worker.incarnation) }
            }
            let before = worker.processorTime
            for _ in 0..<times {
                for command in commands { _ = try await siege.redis.cli(command) }
                if let read { try await blocking { onlooker.value.ask(read) } }
            }
            // Heartbeats read leases, and what they lead to.
            try await Task.sleep(for: .milliseconds(place.name.contains("worker") ? 1300 : 50))
            try await blocking { onlooker.value.ask(#"{"type":"leave","conversation":"c","id":1}"#) }
            let spent = worker.processorTime - before
            try await siege.redis.cli([
                "DEL", "presence:{u}", "person:{u}", "members:{k}", "typing:{k}", "typing:{k}:stranger", "here:{k}",
                "here:{k}:since",
                "access:{k}", "access:{k}:people",
            ])
            try await siege.redis.cli("ZREMRANGEBYSCORE", "{workers}", "9000000000000", "+inf")
            return spent / Double(times)
        }
    }

    private func spent(
        _ worker: WorkerProcess, _ times: Int, _ body: @escaping @Sendable (Visitor) throws -> Void
    ) async throws -> Double {
        // Hellos of one user are limited.
        let visitor = Visitor(port: worker.port, user: "stranger-\(UInt32.random(in: 0 ... .max))")
        let before = worker.processorTime
        try await blocking { for _ in 0..<times { try body(visitor) } }
        return (worker.processorTime - before) / Double(times)
    }
}

/// Makes connections to a worker.
private struct Visitor: Sendable {
    let port: Int
    var user = "stranger"

    func send(_ frame: String, at stage: Attack.Stage) throws {
        let stranger = try Attack.Stage.Place(port: port, user: user).stranger(at: stage)
        stranger.say(frame)
        stranger.say(#"{"type":"unwatch","users":["nobody"],"id":"end"}"#)
        _ = stranger.outcome()
    }

    /// A session that watches a user and a conversation.
    func enter() throws -> Stranger {
        let stranger = try Attack.Stage.Place(port: port, user: user).stranger(at: .session)
        stranger.say(#"{"type":"watch","users":["target"]}"#)
        stranger.ask(#"{"type":"join","conversation":"c","presence":true,"here":true,"id":1}"#)
        return stranger
    }
}

extension Stranger {
    /// Sends a message and waits for what comes back.
    fileprivate func ask(_ message: String) {
        say(message)
        _ = text(within: .seconds(10)) { $0.utf8.contains(#""id":1"#.utf8) }
    }
}
