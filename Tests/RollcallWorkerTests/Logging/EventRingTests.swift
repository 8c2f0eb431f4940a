import Logging
import RollcallModel
import Testing

@testable import RollcallWorker

@Suite("The last events of the log")
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

    @Test("are kept from information on, whatever is written, and written as ever")
    func levels() {
        let logger = logger(writing: .warning)
        logger.debug("names somebody")
        logger.info("swept", metadata: ["n": "1"])
        logger.warning("lost")
        #expect(told == ["warning lost - 1", "info swept 1 1"])
        #expect(journal.all == ["warning lost "])
    }

    @Test("do not gain what is below when more is written, and lose what a part of the worker is to be quiet about")
    func quiet() {
        var logger = logger(writing: .trace)
        logger.debug("names somebody")
        #expect(told.isEmpty && journal.all == ["debug names somebody "])
        logger.logLevel = .notice
        logger.info("a library's")
        #expect(told.isEmpty && journal.all.count == 1)
    }

    @Test("are the newest, and one that comes again and again is one")
    func bounded() {
        let logger = logger(writing: .critical)
        logger.info("first")
        for _ in 0..<250 { logger.warning("failed", metadata: ["n": "7"]) }
        #expect(told == ["warning failed 7 250", "info first - 1"])
        for number in 0..<EventRing.most { logger.info("begun", metadata: ["n": "\(number)"]) }
        #expect(told.count == EventRing.most && told.first == "info begun 99 1" && told.last == "info begun 0 1")
    }

    @Test("are not pushed out by what anybody can cause")
    func unkept() {
        let logger = logger(writing: .notice)
        logger.warning("failed")
        for number in 0..<EventRing.most { logger.unkept.notice("changed", metadata: ["n": "\(number)"]) }
        #expect(told == ["warning failed - 1"])
        #expect(journal.all.count == EventRing.most + 1)
    }
}
