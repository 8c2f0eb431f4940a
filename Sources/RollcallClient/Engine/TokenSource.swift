// Where tokens come from: an app's callback, which runs on any thread and takes time, or a simulation, in which
// everything happens on its own clock.

/// Returns a token that names the user.
typealias TokenCallback = @Sendable () async throws -> String

/// Provides the client's tokens.
package struct TokenSource: Sendable {
    package typealias Answer = @Sendable (Result<String, any Error>) -> Void

    private let begin: @Sendable (@escaping Answer) -> Task<Void, Never>?

    /// Calls the app's callback.
    init(_ callback: @escaping TokenCallback) {
        begin = { answer in
            Task {
                let result: Result<String, any Error>
                do { result = .success(try await callback()) } catch { result = .failure(error) }
                answer(result)
            }
        }
    }

    /// Uses a function that answers once, at any time.
    package init(asking ask: @escaping @Sendable (@escaping Answer) -> Void) {
        begin = { answer in
            ask(answer)
            return nil
        }
    }

    /// - Parameter answer: may be called on any thread.
    func ask(_ answer: @escaping Answer) -> Question { Question(task: begin(answer)) }

    /// A request that was not answered yet.
    struct Question {
        fileprivate let task: Task<Void, Never>?

        func cancel() { task?.cancel() }
    }
}
