// The parts of `rollcall dev` stand in nested scopes: each lives while the work inside its scope does, and the end of
// any one, wanted or not, ends all, from the inside out.

extension Child {
    /// Does `work` while the child runs, then stops the child.
    ///
    /// - Throws: ``PartEnded`` if the child ends by itself, once `work` has been cancelled and is done; else what `work`
    ///   throws.
    func during<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await supervised(work, by: endingAsWanted, end: { await self.stop() })
    }

    /// Waits for the child's end.
    ///
    /// - Throws: ``PartEnded`` if nobody had asked for it.
    func endingAsWanted() async throws {
        let ending = await ending
        if !wasStopped { throw PartEnded(name: name, ending: ending) }
    }
}

/// Does `work` while the supervisor finds nothing wrong, then ends what was there for it.
///
/// - Parameters:
///   - supervisor: throws where `work` can not go on, and returns once `end` has been called.
///   - end: is called once, when `work` is done, and goes through under cancellation.
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

/// A part of `rollcall dev` ended without having been asked to.
struct PartEnded: Error, CustomStringConvertible {
    let name: String
    let ending: Child.Ending

    var description: String { "\(name) \(ending)" }
}
