// The parts of `rollcall dev` stand in nested scopes: each lives while the work inside its scope does, and the end of
// any one, wanted or not, ends all, from the inside out.

extension Child {
    /// Does `work` while the child runs, then stops the child.
    ///
    /// - Throws: ``PartEnded`` if the child ends by itself, once `work` has been cancelled and is done; else what `work`
    ///   throws.
    func during<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                let ending = await self.ending
                if self.wasStopped { return nil }
                throw PartEnded(name: self.name, ending: ending)
            }
            group.addTask {
                do {
                    let result = try await work()
                    await self.stop()
                    return result
                } catch {
                    await self.stop()
                    throw error
                }
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            preconditionFailure("one of the two returned neither a result nor an error")
        }
    }
}

/// A part of `rollcall dev` ended without having been asked to.
struct PartEnded: Error, CustomStringConvertible {
    let name: String
    let ending: Child.Ending

    var description: String { "\(name) \(ending)" }
}
