// Every message in both directions, byte for byte. These are the protocol: a change here affects clients of other
// authors.

import RollcallProtocol
import Testing

func user(_ name: String) -> UserID { try! UserID(name) }
func device(_ name: String) -> DeviceID { try! DeviceID(name) }
func conversation(_ name: String) -> ConversationID { try! ConversationID(name) }
func data(_ json: String) -> HereData { HereData(stored: ByteString(json))! }
func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

enum Golden {
    static let requests: [(frame: String, request: ClientRequest)] = [
        (
            #"{"device":"iphone","state":"idle","token":"secret","type":"hello"}"#,
            ClientRequest(.hello(.init(token: "secret", device: device("iphone"), state: .idle)))
        ),
        (
            #"{"id":1,"state":"active","token":"secret","type":"hello","user":"alice"}"#,
            ClientRequest(.hello(.init(token: "secret", device: nil, user: user("alice"))), id: .integer(1))
        ),
        (#"{"token":"fresh","type":"token"}"#, ClientRequest(.token("fresh"))),
        (#"{"state":"active","type":"state"}"#, ClientRequest(.state(.active))),
        (#"{"state":"background","type":"state"}"#, ClientRequest(.state(.background))),
        (
            #"{"id":"w","type":"watch","users":["bob","carol"]}"#,
            ClientRequest(.watch([user("bob"), user("carol")]), id: .text("w"))
        ),
        (#"{"type":"unwatch","users":["bob"]}"#, ClientRequest(.unwatch([user("bob")]))),
        (#"{"id":2.5,"type":"get","users":[]}"#, ClientRequest(.get([]), id: .number(2.5))),
        (#"{"conversation":"c42","type":"join"}"#, ClientRequest(.join(conversation("c42"), presence: false))),
        (
            #"{"conversation":"c42","presence":true,"type":"join"}"#,
            ClientRequest(.join(conversation("c42"), presence: true))
        ),
        (
            #"{"conversation":"c42","here":true,"type":"join"}"#,
            ClientRequest(.join(conversation("c42"), presence: false, here: true))
        ),
        (#"{"conversation":"c42","type":"leave"}"#, ClientRequest(.leave(conversation("c42")))),
        (#"{"conversation":"c42","type":"enter"}"#, ClientRequest(.enter(conversation("c42")))),
        (
            #"{"conversation":"c42","data":{"section":[4,"a b"]},"id":1,"type":"enter"}"#,
            ClientRequest(.enter(conversation("c42"), data: data(#"{"section":[4,"a b"]}"#)), id: .integer(1))
        ),
        (#"{"conversation":"c42","type":"exit"}"#, ClientRequest(.exit(conversation("c42")))),
        (
            #"{"conversation":"c42","type":"typing","typing":true}"#,
            ClientRequest(.typing(conversation("c42"), true))
        ),
        (
            #"{"conversation":"c42","id":-7,"type":"typing","typing":false}"#,
            ClientRequest(.typing(conversation("c42"), false), id: .integer(-7))
        ),
        (
            #"{"id":5,"type":"person","for":3600000,"availability":"dnd","presence":null}"#,
            ClientRequest(.person(.init([.availability: "dnd", .presence: nil], lasting: 3_600_000)), id: .integer(5))
        ),
        (
            #"{"type":"person","last_seen":"nobody","text":"Out","until":1753600000123}"#,
            ClientRequest(.person(.init([.lastSeen: "nobody", .text: "Out", .until: "1753600000123"])))
        ),
        (#"{"type":"ping"}"#, ClientRequest(.ping)),
        (#"{"type":"goodbye"}"#, ClientRequest(.goodbye)),
        (
            "{\"type\":\"unwatch\",\"users\":[\"cafe\u{301}\",\"caf\u{e9}\",\"a\\\"b\\\\c/d\",\"😀\"]}",
            ClientRequest(.unwatch([user("cafe\u{301}"), user("caf\u{e9}"), user("a\"b\\c/d"), user("😀")]))
        ),
    ]

    static let messages: [(frame: String, message: ServerMessage)] = [
        (
            #"{"device":"iphone","join":["c42","team7:*"],"limits":{"entered_conversations":10,"here_data":512,"#
                + #""joined_conversations":500,"message_burst":200,"message_bytes":65536,"message_rate":50,"watched_users":2000},"ping":10000,"#
                + #""presence":{"coalesce":500},"reconnect":1500,"session":"8a6e5f0b1c2d3e4","#
                + #""time":1753600000123,"type":"welcome","typing":{"expiry":3000,"throttle":1000},"#
                + #""user":"alice","watch":["acme/*"],"worker":"w1.3f9a2c"}"#,
            .welcome(
                .init(
                    user: user("alice"), device: device("iphone"), session: "8a6e5f0b1c2d3e4", worker: "w1.3f9a2c",
                    time: time(1_753_600_000_123), ping: 10_000, typing: .init(expiry: 3000, throttle: 1000),
                    limits: .init(
                        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 50,
                        messageBurst: 200),
                    join: .only(["c42", "team7:*"]), watch: .only(["acme/*"])))
        ),
        (
            #"{"type":"presence","users":[{"last_seen":1753600000000,"status":"away","updated_at":1753600000001,"#
                + #""user":"bob","version":1753600000002,"name":"Bob"}]}"#,
            .presence([
                Presence(
                    user: user("bob"), status: .away, lastSeen: time(1_753_600_000_000),
                    updatedAt: time(1_753_600_000_001), version: 1_753_600_000_002, profile: Profile(name: "Bob"))
            ])
        ),
        (
            #"{"id":"g1","type":"presence","users":[{"last_seen":null,"status":"offline","updated_at":null,"#
                + #""user":"nobody","version":5}]}"#,
            .presence(
                [Presence(user: user("nobody"), status: .offline, lastSeen: nil, updatedAt: nil, version: 5)],
                id: .text("g1"))
        ),
        (
            #"{"conversation":"c42","count":12,"type":"typing","users":[{"name":"Bob","user":"bob"},{"user":"x"}]}"#,
            .typing(
                .init(
                    conversation: conversation("c42"),
                    users: [Typist(user: user("bob"), name: "Bob"), Typist(user: user("x"))], count: 12))
        ),
        (
            #"{"conversation":"c42","count":0,"type":"typing","users":[]}"#,
            .typing(.init(conversation: conversation("c42"), users: [], count: 0))
        ),
        (
            #"{"conversation":"c42","count":2001,"type":"members","users":[{"name":"Bob","user":"bob"},{"user":"x"}]}"#,
            .members(
                .init(
                    conversation: conversation("c42"),
                    users: [.init(user: user("bob"), name: "Bob"), .init(user: user("x"))], count: 2001))
        ),
        (
            #"{"conversation":"c42","count":12,"type":"here","users":[{"data":{"section":4},"idle":true,"name":"Bob","#
                + #""since":1753600000000,"user":"bob"},{"since":1753600000001,"user":"x"}]}"#,
            .here(
                .init(
                    conversation: conversation("c42"),
                    users: [
                        HereUser(
                            user: user("bob"), name: "Bob", since: time(1_753_600_000_000), isIdle: true,
                            data: data(#"{"section":4}"#)),
                        HereUser(user: user("x"), since: time(1_753_600_000_001)),
                    ], count: 12))
        ),
        (#"{"conversation":"c42","type":"removed"}"#, .removed(conversation("c42"))),
        (
            #"{"revision":17,"type":"person","availability":"busy","presence":"shared","until":1753600000123}"#,
            .person(person(17, [.availability: "busy", .presence: "shared", .until: "1753600000123"]))
        ),
        (
            #"{"type":"presence","users":[{"last_seen":1753600000000,"status":"away","updated_at":1753600000001,"#
                + #""user":"bob","version":2,"availability":"dnd","emoji":"x","text":"Out","until":9}]}"#,
            .presence([saying("bob", person(1, [.availability: "dnd", .text: "Out", .emoji: "x", .until: "9"]))])
        ),
        (#"{"time":1753600000123,"type":"pong"}"#, .pong(time: time(1_753_600_000_123))),
        (#"{"id":3,"type":"ack"}"#, .ack(.integer(3))),
        (
            #"{"code":"not_a_member","id":"j","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .notAMember, id: .text("j"), message: "no"))
        ),
        (
            #"{"code":"unavailable","message":"later","retry":true,"type":"error"}"#,
            .error(MessageError(code: .unavailable, id: nil, message: "later"))
        ),
        (
            #"{"code":"bad_request","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .badRequest, id: nil, message: "no"))
        ),
        (
            #"{"code":"unknown_type","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .unknownType, id: nil, message: "no"))
        ),
        (
            #"{"code":"not_joined","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .notJoined, id: nil, message: "no"))
        ),
        (
            #"{"code":"limit","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .limit, id: nil, message: "no"))
        ),
        (
            #"{"after":1200,"reason":"draining","reconnect":true,"to":"wss://w2/v1/connect","type":"goodbye"}"#,
            .goodbye(.init(reason: .draining, reconnect: true, after: 1200, to: "wss://w2/v1/connect"))
        ),
        (
            #"{"reason":"sent_away","reconnect":false,"type":"goodbye"}"#,
            .goodbye(.init(reason: .sentAway, reconnect: false))
        ),
    ]

    /// What a later version might send, and how this one reads it.
    static let laterMessages: [(frame: String, message: ServerMessage)] = [
        (
            #"{"type":"presence","users":[{"availability":"sailing","last_seen":7,"status":"driving","updated_at":8,"#
                + #""user":"bob","version":9},{"last_seen":1,"status":"online","updated_at":2,"user":"carol","version":3}]}"#,
            .presence([
                Presence(user: user("bob"), status: .offline, lastSeen: time(7), updatedAt: time(8), version: 9),
                Presence(user: user("carol"), status: .online, lastSeen: time(1), updatedAt: time(2), version: 3),
            ])
        ),
        (
            #"{"after":50,"reason":"eclipse","reconnect":true,"since":1,"to":"wss://w2","type":"goodbye"}"#,
            .goodbye(.init(reason: GoodbyeReason(rawValue: "eclipse"), reconnect: true, after: 50, to: "wss://w2"))
        ),
        (
            #"{"code":"full_moon","id":"j","message":"no","retry":false,"type":"error"}"#,
            .error(MessageError(code: .init(rawValue: "full_moon"), id: .text("j"), message: "no"))
        ),
        (
            #"{"conversation":"c42","count":1,"kind":"voice","type":"typing","users":[{"user":"bob","kind":"voice"}]}"#,
            .typing(.init(conversation: conversation("c42"), users: [Typist(user: user("bob"))], count: 1))
        ),
    ]
}

private func person(_ revision: Int64, _ settings: [Person.Field: ByteString]) -> Person {
    var person = Person(revision: revision)
    for (field, value) in settings { _ = person.set(field, to: value) }
    return person
}

private func saying(_ name: String, _ person: Person) -> Presence {
    var presence = Presence(
        user: user(name), status: .away, lastSeen: time(1_753_600_000_000), updatedAt: time(1_753_600_000_001),
        version: 2)
    presence.words = PersonWords(of: person, at: time(1))
    return presence
}
