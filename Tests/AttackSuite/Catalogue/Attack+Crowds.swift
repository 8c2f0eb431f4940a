// What is harmless from one, and is sent by many at once, or without end.

internal import Foundation

extension Attack {
    static let crowds = [
        Attack("connections that say nothing", crowd: 500, answer: "end") { place, crowd in
            try ended((0..<crowd).map { _ in try Stranger(port: place.port) })
        },
        Attack("WebSockets that say nothing", crowd: 200, answer: "close 4003") { place, crowd in
            let strangers = try (0..<crowd).map { _ in try place.stranger(at: .upgraded) }
            return counted(strangers.map { $0.outcome() })
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
        Attack("10,000 messages at once", crowd: 4, answer: "close 4103") { place, crowd in
            let messages = [[UInt8]](
                repeating: ClientFrame.text(#"{"type":"state","state":"idle"}"#).bytes, count: 10_000
            ).flatMap { $0 }
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place)
                    stranger.send(messages)
                    return stranger.outcome()
                })
        },
        Attack("2,000 users watched and let go of, ten times", crowd: 2, answer: "error slow_down") { place, crowd in
            let users = (0..<2000).map { "\"u\($0)\"" }.joined(separator: ",")
            return counted(
                try (0..<crowd).map { number in
                    let stranger = try device(number, of: place)
                    for _ in 0..<10 {
                        stranger.say(#"{"type":"watch","users":[\#(users)]}"#)
                        stranger.say(#"{"type":"unwatch","users":[\#(users)]}"#)
                    }
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

    private static func device(_ number: Int, of place: Stage.Place) throws -> Stranger {
        let stranger = try Stranger(port: place.port)
        try stranger.enter(token: "\(place.user)-\(number)", device: "d")
        return stranger
    }

    private static func ended(_ strangers: [Stranger]) -> Outcomes {
        counted(strangers.map { $0.isEnded() ? "end" : "silence" })
    }

    private static func counted(_ outcomes: [String]) -> Outcomes {
        outcomes.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
