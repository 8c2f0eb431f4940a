// A load on a test clock, with simulated workers.

import RollcallLoad
import RollcallModel
import Testing

@Suite("A load")
struct CourseTests {
    /// Workers that answer everything after the same delay.
    private struct Stage {
        var course: Course
        var now = Moment.now
        let delay: Duration
        /// The pending messages of the workers, with their times.
        private var answers: [(at: Moment, device: Int, text: String)] = []
        private(set) var connects: [(device: Int, address: Int, at: Moment)] = []
        private(set) var said: [(device: Int, message: ClientMessage, at: Moment)] = []

        init(_ plan: Plan, delay: Duration = .milliseconds(2), addresses: [String] = ["ws://127.0.0.1:1"]) {
            self.delay = delay
            course = Course(plan, addresses: addresses, at: now)
            course.gather(at: now)
        }

        /// Continues in steps of one millisecond.
        mutating func play(_ duration: Duration) throws {
            let end = now + duration
            while now < end {
                now += .milliseconds(1)
                course.advance(to: now)
                for answer in answers where answer.at <= now { hear(answer.text, on: answer.device) }
                answers.removeAll { $0.at <= now }
                var acts: [Act] = []
                course.exchange(&acts)
                for act in acts { take(act) }
            }
        }

        mutating func hear(_ text: String, on device: Int) {
            Array(text.utf8).withUnsafeBytes { course.heard(device, $0, at: now) }
        }

        private mutating func take(_ act: Act) {
            switch act {
            case .connect(let device, let address):
                connects.append((device, address, now))
                answers.append((now + delay, device, #"{"device":"load","type":"welcome"}"#))
            case .say(let device, let frames): for request in requests(frames) { take(request, from: device) }
            case .drop: break
            }
        }

        private mutating func take(_ request: ClientRequest, from device: Int) {
            said.append((device, request.message, now))
            guard case .integer(let id)? = request.id else { return }
            answers.append((now + delay, device, #"{"id":\#(id),"type":"ack"}"#))
        }

        /// Decodes consecutive frames.
        private func requests(_ bytes: [UInt8]) -> [ClientRequest] {
            var (requests, start) = ([ClientRequest](), 0)
            while start < bytes.count {
                let short = Int(bytes[start + 1] & 0x7F)
                let head = short == 126 ? 8 : 6
                let length = short == 126 ? Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]) : short
                let payload = bytes[start + head..<start + head + length]
                if let request = try? MessageCodec().request(from: payload) { requests.append(request) }
                start += head + length
            }
            return requests
        }
    }

    private func conversation(_ name: String) throws -> ConversationID { try ConversationID(name) }

    private func typing(_ conversation: String, _ users: String...) -> String {
        let list = users.map { #"{"user":"\#($0)"}"# }.joined(separator: ",")
        return #"{"conversation":"\#(conversation)","count":\#(users.count),"type":"typing","users":[\#(list)]}"#
    }

    @Test("opens a limited number of connections at once, until all are connected")
    func gathering() throws {
        var stage = Stage(Plan(.idle, devices: 1_000, duration: .seconds(10)))
        try stage.play(.milliseconds(1))
        #expect(stage.connects.count == 200)
        try stage.play(.milliseconds(100))
        #expect(stage.course.isGathered)
        #expect(stage.course.tally.present == 1_000)
        // A hello, a watch, and two joins.
        #expect(stage.said.count == 4_000)
    }

    @Test("measures the time to the welcome from when a connection was due, however late it was started")
    func omission() throws {
        var plan = Plan(.storm, devices: 100, duration: .seconds(10))
        plan.rate = 100
        var stage = Stage(plan, delay: .milliseconds(5))
        stage.course.begin(at: stage.now)
        try stage.play(.milliseconds(100))
        // This process was not scheduled for a while.
        stage.now += .milliseconds(500)
        try stage.play(.milliseconds(500))
        let welcome = stage.course.tally.welcome
        #expect(welcome.count == 100)
        #expect(try #require(welcome.milliseconds(1)) >= 490)
        #expect(try #require(welcome.milliseconds(0.1)) < 8)
        #expect(try #require(stage.course.tally.late.milliseconds(1)) >= 490)
    }

    @Test("measures typing from when it was due, even if the typing device was late")
    func lateTypist() throws {
        var stage = Stage(Plan(.witness, devices: 2, duration: .seconds(10)))
        try stage.play(.milliseconds(50))
        stage.course.begin(at: stage.now)
        stage.now += .milliseconds(40)
        try stage.play(.milliseconds(1))
        #expect(stage.said.last?.message == .typing(try conversation("load-pair0"), true))
        stage.hear(typing("load-pair0", "load-0"), on: 1)
        let tally = stage.course.tally
        #expect((tally.changes, tally.expected, tally.seen) == (1, 1, 1))
        #expect(try #require(tally.typing.milliseconds(1)) >= 40)
    }

    @Test("knows when typing in the room is due, even of devices of another process")
    func processes() throws {
        var plan = Plan(.room, devices: 40, part: 1, of: 2, duration: .seconds(10))
        plan.typists = 2
        var stage = Stage(plan)
        try stage.play(.milliseconds(50))
        stage.course.begin(at: stage.now)
        try stage.play(.milliseconds(1))
        // The first typing user belongs to the other process: all 20 should see it, and none of these types.
        #expect(stage.course.tally.expected == 20)
        let room = try conversation("load-room")
        #expect(stage.said.allSatisfy { $0.message != .typing(room, true) })
        stage.hear(typing("load-room", "load-0"), on: 7)
        #expect(stage.course.tally.seen == 1)
        try stage.play(.milliseconds(1_750))
        #expect(stage.said.last?.message == .typing(room, true))
        #expect(stage.said.last?.device == 0)
    }

    @Test("keeps chats alive, and types as often as configured")
    func chat() throws {
        var plan = Plan(.chat, devices: 200, duration: .seconds(60))
        plan.bursts = 50
        var stage = Stage(plan)
        try stage.play(.milliseconds(100))
        stage.course.begin(at: stage.now)
        for _ in 0..<60 {
            try stage.play(.seconds(1))
            // A device that says goodbye is disconnected.
            let leaving = stage.said.filter { $0.message == .goodbye && $0.at > stage.now - .seconds(1) }
            for (device, _, _) in leaving { stage.course.closed(device, .code(1000), at: stage.now) }
        }
        let starts = stage.said.reduce(into: [Int: Int]()) { starts, said in
            if case .typing(_, true) = said.message { starts[said.device, default: 0] += 1 }
        }
        #expect(starts.count == 200)
        // Each one is silent for four seconds on average, and types for more than three.
        #expect((2_000...5_000).contains(stage.course.tally.changes))
        #expect(stage.course.tally.present > 150)
        #expect(stage.course.tally.losses == 0)
        #expect(stage.said.contains { $0.message == .state(.idle) })
        #expect(stage.course.tally.welcomes > 20, "those who left have come again")
    }

    @Test("waits as the worker says before it reconnects, and measures the whole time without a connection")
    func comingBack() throws {
        var plan = Plan(.reconnect, devices: 1, duration: .seconds(60))
        plan.cuts = false
        var stage = Stage(plan, addresses: ["ws://127.0.0.1:1", "ws://127.0.0.1:2"])
        try stage.play(.milliseconds(50))
        stage.course.begin(at: stage.now)
        stage.hear(
            #"{"after":700,"reason":"draining","reconnect":true,"to":"ws://127.0.0.1:3/v1/connect","type":"goodbye"}"#,
            on: 0)
        stage.course.closed(0, .code(4000), at: stage.now)
        try stage.play(.milliseconds(699))
        #expect(stage.connects.count == 1)
        try stage.play(.milliseconds(10))
        #expect(stage.connects.count == 2)
        #expect(stage.course.addresses[stage.connects[1].address] == "ws://127.0.0.1:3/v1/connect")
        let tally = stage.course.tally
        #expect((tally.losses, tally.present, tally.goodbyes) == (1, 1, ["draining": 1]))
        #expect((700...710).contains(try #require(tally.away.milliseconds(1))))
    }

    @Test("cuts all connections after a third of the time, and all devices reconnect")
    func cut() throws {
        var stage = Stage(Plan(.reconnect, devices: 30, duration: .seconds(9)))
        try stage.play(.milliseconds(50))
        stage.course.begin(at: stage.now)
        try stage.play(.milliseconds(2_990))
        #expect(stage.course.tally.losses == 0)
        try stage.play(.milliseconds(400))
        let tally = stage.course.tally
        #expect((tally.losses, tally.present, tally.away.count) == (30, 30, 30))
        #expect(try #require(tally.away.milliseconds(1)) < 260)
    }

    @Test("reports why no device is admitted")
    func failures() throws {
        for (ending, words) in [
            (Crowd.Ending.unreachable(111), "no worker answers at ws://127.0.0.1:1"), (.refused(404), "status 404"),
            (.refused(0), "is no worker"), (.code(4100), "--secret-file"),
        ] {
            var stage = Stage(Plan(.idle, devices: 3, duration: .seconds(1)), delay: .seconds(60))
            try stage.play(.milliseconds(1))
            stage.course.closed(0, ending, at: stage.now)
            #expect(stage.course.failure?.description.contains(words) == true, "\(ending)")
        }
        var stage = Stage(Plan(.idle, devices: 3, duration: .seconds(1)), delay: .seconds(60))
        try stage.play(.milliseconds(1))
        stage.course.closed(0, .lost(104), at: stage.now)
        #expect(stage.course.failure == nil, "this may be weather")
    }
}
