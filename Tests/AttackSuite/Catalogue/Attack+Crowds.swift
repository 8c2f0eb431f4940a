// What is harmless from one connection, sent by many at once or without end.

internal import Dispatch
internal import Foundation
internal import NIOConcurrencyHelpers

extension Attack {
    static let crowds = [
        Attack("connections that say nothing", crowd: 500, answer: "end") { place, crowd in
            try ended((0..<crowd).map { _ in try Stranger(port: place.port) })
        },
        Attack("WebSockets that say nothing", crowd: 200, answer: "close 4003") { place, crowd in
            let strangers = try (0..<crowd).map { _ in try place.stranger(at: .upgraded) }
            return counted(strangers.map { $0.outcome() })
        },
        Attack("200 WebSockets that say nothing, and a device among them", crowd: 200, answer: "welcome") {
            place, crowd in
            let strangers = try (0..<crowd).map { _ in try place.stranger(at: .upgraded) }
            let device = try? device(0, of: place)
            withExtendedLifetime(strangers) {}
            return counted([device == nil ? "kept out" : "welcome"])
        },
        Attack("200 messages of 64 KiB that do not end, before any hello", crowd: 200, answer: "close 1009") {
            place, crowd in
            let part = ClientFrame(payload: [UInt8](repeating: 32, count: 65_536), isFinal: false).bytes
            let strangers = try (0..<crowd).map { _ in
                let stranger = try place.stranger(at: .upgraded)
                stranger.send(part.dropLast())
                return stranger
            }
            return counted(strangers.map { $0.outcome() })
        },
        Attack("pings without end", crowd: 20, answer: "close 4103") { place, crowd in
            let pings = [[UInt8]](repeating: ClientFrame(opcode: 9).bytes, count: 10_000).flatMap { $0 }
            return atOnce(crowd) { number in
                let stranger = try device(number, of: place)
                while stranger.send(pings), stranger.isPatient {}
                return stranger.outcome()
            }
        },
        // Of three sessions that begin in one millisecond, the third may count as older than the second (4104).
        Attack(
            "one user who connects and leaves, 200 times", crowd: 200,
            answer: "welcome", "close 4002", "close 4104"
        ) { place, crowd in
            var outcomes: [String] = []
            for _ in 0..<crowd {
                let stranger = try place.stranger(at: .upgraded)
                stranger.say(#"{"type":"hello","token":"\#(place.user)","device":"d","id":1}"#)
                let outcome = stranger.outcome()
                outcomes.append(outcome == "ack" ? "welcome" : outcome)
                stranger.say(#"{"type":"goodbye"}"#)
            }
            let refused = outcomes.count { $0 == "close 4002" }
            return refused == 0 ? ["never refused": 1] : counted(outcomes)
        },
        Attack("200 WebSockets of one address", crowd: 200, answer: "101 for 100, and else 429") { place, crowd in
            let (address, began) = (newAddress(), ContinuousClock.now)
            let strangers = try (0..<crowd).map { _ in try Stranger(port: place.port) }
            let codes = counted(strangers.map { $0.statusBehindProxy(of: address) })
            // After limits.hello, which is a second or more, the first ones have ended before the last ones ask.
            let most = ContinuousClock.now - began < .milliseconds(900) ? 100 : crowd - 1
            let isLimited = (100...most).contains(codes["101", default: 0]) && Set(codes.keys) == ["101", "429"]
            return isLimited ? ["101 for 100, and else 429": crowd] : codes
        },
        Attack("handshakes of a byte now and then", crowd: 200, answer: "end") { place, crowd in
            let strangers = try (0..<crowd).map { _ in try Stranger(port: place.port) }
            for byte in Stranger.request().utf8.prefix(40) {
                strangers.forEach { $0.send([byte]) }
                usleep(10_000)
            }
            return ended(strangers)
        },
        Attack("headers without end", crowd: 20, answer: "end", "HTTP 431") { place, crowd in
            let line = Array(String(repeating: "X-Header: and another\r\n", count: 500).utf8)
            let strangers = try (0..<crowd).map { _ in try Stranger(port: place.port) }
            strangers.forEach { $0.send(Array("GET /v1/connect HTTP/1.1\r\n".utf8)) }
            var sending = strangers
            while !sending.isEmpty { sending.removeAll { !$0.send(line) || !$0.isPatient } }
            return counted(strangers.map { $0.httpStatus().map { "HTTP \($0)" } ?? "end" })
        },
        Attack("half-closed before the handshake", crowd: 200, answer: "end") { place, crowd in
            let strangers = try (0..<crowd).map { _ in try Stranger(port: place.port) }
            strangers.forEach { $0.endSending() }
            return ended(strangers)
        },
        Attack("half-closed sessions", crowd: 100, answer: "end") { place, crowd in
            let strangers = try (0..<crowd).map { try device($0, of: place) }
            strangers.forEach { $0.endSending() }
            return ended(strangers)
        },
        Attack("10,000 pings at once", crowd: 4, answer: "fewer pongs, and an ack") { place, crowd in
            let pings = [[UInt8]](repeating: ClientFrame(opcode: 9, payload: [65]).bytes, count: 10_000).flatMap { $0 }
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place)
                    stranger.send(pings)
                    stranger.say(#"{"type":"state","state":"idle","id":1}"#)
                    let pongs = stranger.pongsBeforeAck()
                    return pongs.map { $0 < 1000 ? "fewer pongs, and an ack" : "\($0) pongs" } ?? "no ack"
                })
        },
        Attack("1,500 messages at once", crowd: 4, answer: "ack") { place, crowd in
            let messages = [[UInt8]](
                repeating: ClientFrame.text(#"{"type":"state","state":"idle"}"#).bytes, count: 1500
            ).flatMap { $0 }
            // The worker reads them at the rate of their users, for half a minute.
            let strangers = try (0..<crowd).map { try device($0, of: place, patience: .seconds(60)) }
            for stranger in strangers {
                stranger.send(messages)
                stranger.say(#"{"type":"state","state":"active","id":1}"#)
            }
            return counted(strangers.map { $0.outcome() })
        },
        Attack("a state toggled 180 times at once", crowd: 4, answer: "ack") { place, crowd in
            let toggle = ["idle", "active"].map { ClientFrame.text(#"{"type":"state","state":"\#($0)"}"#) }.bytes
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place, patience: .seconds(60))
                    for _ in 0..<90 { stranger.send(toggle) }
                    stranger.say(#"{"type":"state","state":"idle","id":1}"#)
                    return stranger.outcome()
                })
        },
        Attack("a join with presence toggled 200 times at once", crowd: 4, answer: "ack") { place, crowd in
            let toggle = ["true", "false"].map {
                ClientFrame.text(#"{"type":"join","conversation":"toggled","presence":\#($0)}"#)
            }.bytes
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place, patience: .seconds(60))
                    for _ in 0..<100 { stranger.send(toggle) }
                    stranger.say(#"{"type":"state","state":"idle","id":1}"#)
                    return stranger.outcome()
                })
        },
        Attack("2,000 users watched and unwatched, ten times", crowd: 2, answer: "ack") { place, crowd in
            let users = (0..<2000).map { "\"u\($0)\"" }.joined(separator: ",")
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place)
                    for _ in 0..<10 {
                        stranger.say(#"{"type":"watch","users":[\#(users)]}"#)
                        stranger.say(#"{"type":"unwatch","users":[\#(users)]}"#)
                    }
                    stranger.say(#"{"type":"state","state":"idle","id":1}"#)
                    return stranger.outcome()
                })
        },
        Attack("one user on 30 devices", crowd: 30, answer: "welcome", "close 4105") { place, crowd in
            let user = "crowd-\(UUID().uuidString.prefix(8))"
            var strangers: [Stranger] = []
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try place.stranger(at: .upgraded)
                    strangers.append(stranger)
                    stranger.say(#"{"type":"hello","token":"\#(user)","device":"d\#(number)","id":1}"#)
                    let outcome = stranger.outcome()
                    return outcome == "ack" ? "welcome" : outcome
                })
        },
    ]

    private static func device(
        _ number: Int, of place: Stage.Place, patience: Duration = .seconds(10)
    ) throws -> Stranger {
        let stranger = try Stranger(port: place.port, patience: patience)
        try stranger.enter(token: "\(place.user)-\(number)", device: "d")
        return stranger
    }

    /// Plays each of these connections on its own thread.
    private static func atOnce(_ crowd: Int, _ play: @escaping @Sendable (Int) throws -> String) -> Outcomes {
        let outcomes = NIOLockedValueBox<[String]>([])
        let ended = DispatchGroup()
        for number in 0..<crowd {
            ended.enter()
            Thread.detachNewThread {
                let outcome = (try? play(number)) ?? "kept out"
                outcomes.withLockedValue { $0.append(outcome) }
                ended.leave()
            }
        }
        ended.wait()
        return counted(outcomes.withLockedValue { $0 })
    }

    private static func newAddress() -> String {
        "198.51.\(UInt8.random(in: 0...255)).\(UInt8.random(in: 0...255))"
    }

    private static func ended(_ strangers: [Stranger]) -> Outcomes {
        counted(strangers.map { $0.isEnded() ? "end" : "silence" })
    }

    private static func counted(_ outcomes: [String]) -> Outcomes {
        outcomes.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
