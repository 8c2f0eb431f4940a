// Writes log lines to standard error. Lines are written in pieces that pipes accept whole, so that lines of several
// threads or processes do not mix. If the reader has stopped, the log waits 50 ms and then drops lines, so that the
// reader cannot block the worker.

import Foundation
import Synchronization

/// Writes lines to a file descriptor that may have no active reader.
///
/// If the pipe is full, lines are dropped after a short wait. When writing works again, one line reports how many were
/// dropped.
final class LogStream: Sendable {
    static let standardError = LogStream(STDERR_FILENO)

    /// How long to wait, in milliseconds, for the first line that does not fit. Later lines do not wait.
    private static let patience: Int32 = 50
    /// A size that pipes accept whole.
    private static let piece = 4096

    private let descriptor: Int32
    private let state = Mutex(State())

    private struct State: Sendable {
        var lost = 0
        /// Whether the last line was written only in part.
        var isCut = false
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line with its newline, or drops it.
    ///
    /// - Parameter notice: Builds the line that reports how many were dropped.
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

    /// - Returns: Whether all of it was written. A partial line is completed if the reader continues soon.
    private func put(_ line: String, patience: Int32, _ state: inout State) -> Bool {
        var rest = Array(((state.isCut ? "\n" : "") + line).utf8)[...]
        var patience = patience
        while !rest.isEmpty {
            guard isReady(within: patience) else { return false }
            let written = rest.prefix(Self.piece).withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
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
