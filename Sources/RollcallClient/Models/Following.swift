// A task that ends with whoever holds it, so that a view's model needs no closing.

/// Keeps a task alive for as long as it is held.
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
    /// Hands every element to `owner`, on the main actor, for as long as both live.
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
