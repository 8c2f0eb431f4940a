import Foundation
import Testing

@testable import RollcallWorker

@Suite("A log that is not read")
struct LogStreamTests {
    @Test("loses lines instead of blocking the worker, and reports how many")
    func unread() throws {
        let pipe = Pipe()
        let stream = LogStream(pipe.fileHandleForWriting.fileDescriptor)
        let all = 20_000
        // A pipe holds 64 KiB; a writer that waits would wait forever.
        for number in 0..<all { stream.write("line \(number) of the log\n") { "\($0) were lost\n" } }
        var heard = Data()
        heard.append(pipe.fileHandleForReading.availableData)
        stream.write("the last\n") { "\($0) were lost\n" }
        try pipe.fileHandleForWriting.close()
        heard.append(try #require(try pipe.fileHandleForReading.readToEnd()))
        let lines = String(decoding: heard, as: UTF8.self).split(separator: "\n")
        let written = lines.count { $0.hasPrefix("line ") && $0.hasSuffix(" of the log") }
        #expect(written > 0 && written < all)
        #expect(lines.suffix(2) == ["\(all - written) were lost", "the last"])
        #expect(lines.count == written + 2, "no line is incomplete")
    }

    @Test("a long line is written completely, in parts")
    func longLine() throws {
        let pipe = Pipe()
        let line = String(repeating: "x", count: 60_000) + "\n"
        LogStream(pipe.fileHandleForWriting.fileDescriptor).write(line) { "\($0) were lost\n" }
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd()?.count == line.utf8.count)
    }
}
