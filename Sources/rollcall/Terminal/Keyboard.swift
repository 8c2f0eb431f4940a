// Reads keys as they are pressed. Nothing is read ahead: pasted text stays in the kernel until it is needed.

@preconcurrency import Dispatch
import Foundation
import RollcallTerminal

/// Reads keys from standard input.
final class Keyboard: Sendable {
    /// How long to wait for the rest of a key that begins with Escape, in milliseconds. It usually arrives at once.
    private static let escapeTime: Int32 = 60
    private let queue = DispatchQueue(label: "rollcall.keyboard")
    /// Wakes the reading thread when the task is cancelled.
    private let wakeUp = Pipe()

    /// Returns the next keys, at least one; `nil` at the end of the input, or if the task is cancelled.
    func keys(_ decoder: inout KeyDecoder) async -> [Key]? {
        while !Task.isCancelled {
            let event = await next(within: decoder.waits ? Self.escapeTime : -1)
            let keys: [Key]
            switch event {
            case .bytes(let bytes): keys = decoder.received(bytes)
            case .silence: keys = decoder.paused()
            case .end: return nil
            }
            if !keys.isEmpty { return keys }
        }
        return nil
    }

    private enum Event {
        case bytes([UInt8])
        case silence
        case end
    }

    private func next(within milliseconds: Int32) async -> Event {
        await withTaskCancellationHandler {
            await withCheckedContinuation { event in
                queue.async { [self] in event.resume(returning: wait(milliseconds)) }
            }
        } onCancel: {
            try? wakeUp.fileHandleForWriting.write(contentsOf: Data([0]))
        }
    }

    private func wait(_ milliseconds: Int32) -> Event {
        var descriptors = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        if ready < 0 { return errno == EINTR ? .bytes([]) : .end }
        if ready == 0 { return .silence }
        return descriptors[1].revents != 0 ? .end : taken()
    }

    private func taken() -> Event {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count > 0 { return .bytes(Array(buffer.prefix(count))) }
        // Reading fails in the background. The screen then stops this process; see ``LiveScreen``.
        let isElsewhere = count < 0 && errno == EIO && !TerminalDevice.isInForeground
        guard isElsewhere || (count < 0 && errno == EINTR) else { return .end }
        usleep(50_000)
        return .bytes([])
    }
}
