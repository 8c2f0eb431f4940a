// The parts of `rollcall dev` run in nested scopes. Each part runs as long as the work inside its scope, and the end of
// any part, expected or not, ends all, from the inside out.

extension Child {
    /// Does `work` while the child runs, then stops the child.
    ///
    /// - Throws: ``PartEnded`` if the child ends unexpectedly, after `work` was cancelled and has ended; otherwise what
    ///   `work` throws.
    func during<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await supervised(work, by: endingAsWanted, end: { await self.stop() })
    }

    /// Waits for the child's end.
    ///
    /// - Throws: ``PartEnded`` if the end was not requested.
    func endingAsWanted() async throws {
        let ending = await ending
        if !wasStopped { throw PartEnded(name: name, ending: ending) }
    }
}

/// Does `work` as long as the supervisor does not throw, then calls `end`.
///
/// - Parameters:
///   - supervisor: throws if `work` cannot continue, and returns once `end` has been called.
///   - end: called once, when `work` is done. It must complete even if the task is cancelled.
func supervised<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result,
    by supervisor: @escaping @Sendable () async throws -> Void,
    end: @escaping @Sendable () async -> Void
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await supervisor()
            return nil
        }
        group.addTask {
            do {
                let result = try await work()
                await end()
                return result
            } catch {
                await end()
                throw error
            }
        }
        while let result = try await group.next() {
            if let result { return result }
        }
        preconditionFailure("the work returned neither a result nor an error")
    }
}

/// A part of `rollcall dev` ended although this was not requested.
struct PartEnded: Error, CustomStringConvertible {
    let name: String
    let ending: Child.Ending

    var description: String { "\(name) \(ending)" }
}
