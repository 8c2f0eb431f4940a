// A task that is cancelled when its holder is released, so that views need not close their models.

/// Cancels a task when it is released.
final class Following: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
        self.task = task
    }

    deinit {
        task.cancel()
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable, Failure == Never {
    /// Passes every element to `owner` on the main actor, as long as the owner and the returned value exist.
    @MainActor
    func follow<Owner: AnyObject & Sendable>(
        for owner: Owner, _ take: @escaping @MainActor (Owner, Element) -> Void
    ) -> Following {
        Following(
            Task { @MainActor [weak owner] in
                for await element in self {
                    guard let owner else { return }
                    take(owner, element)
                }
            })
    }
}
