import Logging
import RollcallProtocol
import Testing

@testable import RollcallWorker

@Suite("The recent events of the log")
struct EventRingTests {
    private let ring = EventRing()
    private let journal = Journal()

    private func logger(writing level: Logger.Level) -> Logger {
        Logger(label: "test") { [journal] _ in
            var scribe = Scribe(journal)
            scribe.logLevel = level
            return scribe
        }.kept(in: ring)
    }

    private var told: [String] { ring.events.map { "\($0.level) \($0.message) \($0.facts["n"] ?? "-") \($0.times)" } }

    @Test("are kept from level info on, independent of the log level, and logged as usual")
    func levels() {
        let logger = logger(writing: .warning)
        logger.debug("names somebody")
        logger.info("swept", metadata: ["n": "1"])
        logger.warning("lost")
        #expect(told == ["warning lost - 1", "info swept 1 1"])
        #expect(journal.all == ["warning lost "])
    }

    @Test("contain no lower levels when more is logged, and nothing from a silenced part of the worker")
    func quiet() {
        var logger = logger(writing: .trace)
        logger.debug("names somebody")
        #expect(told.isEmpty && journal.all == ["debug names somebody "])
        logger.logLevel = .notice
        logger.info("a library's")
        #expect(told.isEmpty && journal.all.count == 1)
    }

    @Test("are the newest, and a repeated one is kept once")
    func bounded() {
        let logger = logger(writing: .critical)
        logger.info("first")
        for _ in 0..<250 { logger.warning("failed", metadata: ["n": "7"]) }
        #expect(told == ["warning failed 7 250", "info first - 1"])
        for number in 0..<EventRing.most { logger.info("begun", metadata: ["n": "\(number)"]) }
        #expect(told.count == EventRing.most && told.first == "info begun 99 1" && told.last == "info begun 0 1")
    }

    @Test("are not displaced by events that any client can cause")
    func unkept() {
        let logger = logger(writing: .notice)
        logger.warning("failed")
        for number in 0..<EventRing.most { logger.unkept.notice("changed", metadata: ["n": "\(number)"]) }
        #expect(told == ["warning failed - 1"])
        #expect(journal.all.count == EventRing.most + 1)
    }
}
