// What the kernel tells a program that draws. (What ends it, every command heeds: see ConnectionOptions.)

@preconcurrency import Dispatch
import Foundation

/// What happened to the terminal.
enum WindowSignal: Sendable, CaseIterable {
    case resized
    /// Ctrl-Z.
    case suspended
    case resumed

    private var number: Int32 {
        switch self {
        case .resized: SIGWINCH
        case .suspended: SIGTSTP
        case .resumed: SIGCONT
        }
    }

    /// Every signal from now on. Several of a kind may come as one.
    static func all() -> AsyncStream<WindowSignal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: WindowSignal.self, bufferingPolicy: .bufferingNewest(16))
        let queue = DispatchQueue(label: "rollcall.terminal.signals")
        let sources = allCases.map { event in
            #if canImport(Darwin)
                // Dispatch hears of a signal beside its action, not in place of it.
                if event == .suspended { signal(SIGTSTP, SIG_IGN) }
            #endif
            let source = DispatchSource.makeSignalSource(signal: event.number, queue: queue)
            source.setEventHandler { continuation.yield(event) }
            source.resume()
            return source
        }
        continuation.onTermination = { _ in for source in sources { source.cancel() } }
        return stream
    }
}
