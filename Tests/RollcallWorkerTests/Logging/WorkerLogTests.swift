import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The worker's log")
struct WorkerLogTests {
    private let lines = NIOLockedValueBox("")

    /// 2023-11-14 22:13:20.5 UTC.
    private func logger(_ format: WorkerConfiguration.Log.Format, level: Logger.Level = .info) -> Logger {
        var configuration = WorkerConfiguration.Log()
        configuration.format = format
        configuration.level = level
        let lines = lines
        return Logger(label: "rollcall.test") { label in
            WorkerLog(
                label: label, configuration, now: { Date(timeIntervalSince1970: 1_700_000_000.5) },
                output: { line, _ in lines.withLockedValue { $0 += line } })
        }
    }

    private var written: String { lines.withLockedValue { $0 } }

    @Test("text is a line for people")
    func text() {
        var logger = logger(.text)
        logger[metadataKey: "worker"] = "w1.3f"
        logger.info("lease renewed", metadata: ["time": "12", "empty": "", "two": ["a", "b"]])
        logger.debug("not asked for")
        #expect(
            written == "2023-11-14T22:13:20.500Z info     rollcall.test: lease renewed empty=\"\" time=12 "
                + "two=\"[\\\"a\\\", \\\"b\\\"]\" worker=w1.3f\n")
    }

    @Test("json is a line for programs")
    func json() {
        logger(.json, level: .trace).trace("hé \"said\"\n", metadata: ["user": "a/b", "map": ["k": ["v", "\(7)"]]])
        #expect(
            written == #"{"label":"rollcall.test","level":"trace","message":"hé \"said\"\n","#
                + #""metadata":{"map":{"k":["v","7"]},"user":"a/b"},"time":"2023-11-14T22:13:20.500Z"}"# + "\n")
    }

    @Test("json without metadata has none")
    func bare() {
        logger(.json).error("gone")
        #expect(!written.contains("metadata"))
    }

    @Test(
        "text from outside can neither start a line nor color one", arguments: WorkerConfiguration.Log.Format.allCases)
    func forged(format: WorkerConfiguration.Log.Format) {
        let evil = "x\n2023 error\r\u{1B}[31mred\u{2028}\u{202E}\u{0}\u{85} a=b \"q\""
        logger(format).info("bad \(evil)", metadata: ["user": "\(evil)", "key\n=": "v"])
        #expect(written.unicodeScalars.filter { $0.value < 0x20 || $0.value == 0x85 }.map(\.value) == [10])
        #expect(!written.contains("\u{2028}"))
        if format == .text {
            #expect(written.contains(#"user="x\n2023 error\r\u{1b}[31mred\u{2028}\u{202e}\u{0}\u{85} a=b \"q\"""#))
        } else {
            #expect(written.contains(#"x\n2023 error\r\u001b[31mred\u2028\u202e\u0000\u0085 a=b \"q\""#))
        }
    }
}
