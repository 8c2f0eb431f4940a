import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

/// Children must not inherit descriptors: a connection that a child holds open cannot be closed by its owners.
@Suite struct ChildProcessTests {
    @Test("a child inherits no open descriptors, nor those being opened while it starts")
    func inheritsNothing() async throws {
        let isOver = NIOLockedValueBox(false)
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        Thread.detachNewThread {
            while !isOver.withLockedValue({ $0 }) {
                let opened = (0..<50).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
                for descriptor in opened where descriptor >= 0 { close(descriptor) }
            }
            end.finish()
        }
        for _ in 0..<20 {
            let child = try ChildProcess(["ls", "-l", "/proc/self/fd"])
            #expect(try await child.exitCode() == 0)
            try await eventually("all is read") { child.outputEnded }
            #expect(!child.output.contains("socket:"), "\(child.output)")
        }
        isOver.withLockedValue { $0 = true }
        for await _ in ended {}
    }
}
