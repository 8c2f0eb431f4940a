// Holds the latest value for its reader, or lets the reader wait for it. `AsyncStream` resumes its reader through the
// global executor. This type resumes the reader directly on its actor, so whatever is queued on the actor after a value
// runs after the reader has taken it. Tests on the main actor depend on this.

import NIOConcurrencyHelpers

/// Holds at most one value, the newest, for one reader.
final class Mailbox<Element: Sendable>: Sendable {
    fileprivate enum State {
        case empty
        case holding(Element)
        case awaited(CheckedContinuation<Element?, Never>)
        /// Finished, but the last value was not read yet.
        case ending(Element)
        case ended
    }

    private let state = NIOLockedValueBox(State.empty)

    /// Stores a value, or passes it to the waiting reader. Replaces an unread value.
    func put(_ element: Element) {
        let reader: CheckedContinuation<Element?, Never>? = state.withLockedValue {
            switch $0 {
            case .empty, .holding:
                $0 = .holding(element)
                return nil
            case .awaited(let reader):
                $0 = .empty
                return reader
            case .ending, .ended:
                return nil
            }
        }
        reader?.resume(returning: element)
    }

    /// Removes and returns the unread value, if there is one.
    func pending() -> Element? {
        state.withLockedValue {
            switch $0 {
            case .holding(let element):
                $0 = .empty
                return element
            case .ending(let element):
                $0 = .ended
                return element
            case .empty, .awaited, .ended:
                return nil
            }
        }
    }

    /// Ends the mailbox. An unread value can still be read.
    func finish() {
        let reader: CheckedContinuation<Element?, Never>? = state.withLockedValue {
            switch $0 {
            case .holding(let element):
                $0 = .ending(element)
                return nil
            case .awaited(let reader):
                $0 = .ended
                return reader
            case .empty:
                $0 = .ended
                return nil
            case .ending, .ended:
                return nil
            }
        }
        reader?.resume(returning: nil)
    }

    /// Returns the next value, or `nil` after the last. Only one reader may wait at a time.
    func next(isolation actor: isolated (any Actor)?) async -> Element? {
        await withCheckedContinuation(isolation: actor) { reader in
            let answer = state.withLockedValue { $0.take(for: reader) }
            if let answer { reader.resume(returning: answer) }
        }
    }
}

extension Mailbox.State {
    /// Returns what the reader gets now, or `nil` if it must wait.
    fileprivate mutating func take(for reader: CheckedContinuation<Element?, Never>) -> Element?? {
        switch self {
        case .empty:
            self = .awaited(reader)
            return nil
        case .holding(let element):
            self = .empty
            return element
        case .ending(let element):
            self = .ended
            return element
        case .awaited:
            preconditionFailure("one iterator is read by two tasks at once")
        case .ended:
            return .some(nil)
        }
    }
}
