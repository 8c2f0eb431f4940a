// Standard error as a log needs it. A line is written in pieces that a pipe takes whole, so that the lines of several
// threads, and of several processes on one terminal, do not run into each other. The log waits 50 ms for a reader that
// has stopped, and then loses lines, or the reader would stop the worker.

import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A stream of lines to a file descriptor that nobody may be reading.
///
/// Where the reader has stopped and the pipe is full, lines are lost after a short wait. Once lines can be written again,
/// one tells how many were lost.
final class LogStream: Sendable {
    static let standardError = LogStream(STDERR_FILENO)

    /// How long the first line that finds no room is waited for, in milliseconds. The lines after it are not waited for.
    private static let patience: Int32 = 50
    /// What a pipe takes whole wherever it takes anything.
    private static let piece = 4096

    private let descriptor: Int32
    private let state = Mutex(State())

    private struct State: Sendable {
        var lost = 0
        /// Whether the last line was begun and not finished.
        var isCut = false
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line with its newline, or loses it.
    ///
    /// - Parameter notice: the line that tells how many were lost.
    func write(_ line: String, notice: (_ lost: Int) -> String) {
        state.withLock { state in
            if state.lost > 0 {
                guard put(notice(state.lost), patience: 0, &state) else {
                    state.lost += 1
                    return
                }
                state.lost = 0
            }
            if !put(line, patience: Self.patience, &state) { state.lost += 1 }
        }
    }

    /// - Returns: whether all of it was written. What has begun is finished if the reader goes on soon.
    private func put(_ line: String, patience: Int32, _ state: inout State) -> Bool {
        var rest = Array(((state.isCut ? "\n" : "") + line).utf8)[...]
        var patience = patience
        while !rest.isEmpty {
            guard isReady(within: patience) else { return false }
            let written = rest.prefix(Self.piece).withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                guard errno == EINTR else { return false }
            } else {
                rest = rest.dropFirst(written)
                state.isCut = !rest.isEmpty
                patience = Self.patience
            }
        }
        return true
    }

    private func isReady(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let ready = poll(&request, 1, milliseconds)
            if ready >= 0 || errno != EINTR { return ready > 0 }
        }
    }
}

#if canImport(Darwin)
    private let systemWrite = Darwin.write
#elseif canImport(Musl)
    private let systemWrite = Musl.write
#else
    private let systemWrite = Glibc.write
#endif
