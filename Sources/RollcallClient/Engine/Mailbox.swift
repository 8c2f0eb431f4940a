// Where the latest value waits for its reader, or the reader for it. Not an `AsyncStream`: that brings a reader back by way
// of the global executor. Here it goes on where it waited, with no stop between, so whatever is queued on its actor
// after a value finds the value taken; a test on the main actor relies on that.

import NIOConcurrencyHelpers

/// One value at most, the newest, for one reader.
final class Mailbox<Element: Sendable>: Sendable {
    fileprivate enum State {
        case empty
        case holding(Element)
        case awaited(CheckedContinuation<Element?, Never>)
        /// The last value is still to be taken.
        case ending(Element)
        case ended
    }

    private let state = NIOLockedValueBox(State.empty)

    /// Takes the place of a value that has not been read.
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

    /// The value that nobody has read yet, if there is one.
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

    /// Nothing more will come; a value not yet read still can be.
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

    /// The next value, `nil` after the last. Only one reader may wait at a time.
    func next(isolation actor: isolated (any Actor)?) async -> Element? {
        await withCheckedContinuation(isolation: actor) { reader in
            let answer = state.withLockedValue { $0.take(for: reader) }
            if let answer { reader.resume(returning: answer) }
        }
    }
}

extension Mailbox.State {
    /// What there is for the reader now; `nil` if it has to wait.
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
