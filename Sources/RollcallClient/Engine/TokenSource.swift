// Where the token comes from: an app's callback, which takes its time on whatever thread, or a simulation, in which nothing
// happens but on its own clock.

/// Gives the token that names the user.
typealias TokenCallback = @Sendable () async throws -> String

/// Whom a client asks for its token.
package struct TokenSource: Sendable {
    package typealias Answer = @Sendable (Result<String, any Error>) -> Void

    private let begin: @Sendable (@escaping Answer) -> Task<Void, Never>?

    /// Asks an app.
    init(_ callback: @escaping TokenCallback) {
        begin = { answer in
            Task {
                let result: Result<String, any Error>
                do { result = .success(try await callback()) } catch { result = .failure(error) }
                answer(result)
            }
        }
    }

    /// Asks somebody who answers once, whenever that may be.
    package init(asking ask: @escaping @Sendable (@escaping Answer) -> Void) {
        begin = { answer in
            ask(answer)
            return nil
        }
    }

    /// - Parameter answer: may come on any thread.
    func ask(_ answer: @escaping Answer) -> Question { Question(task: begin(answer)) }

    /// A question that is not answered yet.
    struct Question {
        fileprivate let task: Task<Void, Never>?

        func cancel() { task?.cancel() }
    }
}
