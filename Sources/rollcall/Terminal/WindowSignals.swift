// Signals about the terminal, for programs that draw. (Every command handles signals that end it: see
// ConnectionOptions.)

@preconcurrency import Dispatch
import Foundation

/// An event of the terminal.
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

    /// Returns all signals from now on. Several signals of one kind may arrive as one.
    static func all() -> AsyncStream<WindowSignal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: WindowSignal.self, bufferingPolicy: .bufferingNewest(16))
        let queue = DispatchQueue(label: "rollcall.terminal.signals")
        let sources = allCases.map { event in
            #if canImport(Darwin)
                // Dispatch observes a signal in addition to its default action, not instead of it.
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
