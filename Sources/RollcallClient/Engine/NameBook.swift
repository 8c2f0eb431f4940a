// The app's names for people: asked once for each, remembered, and shown as soon as they are known.

import NIOCore

/// Names by the app's resolver. Used on the client's loop only.
final class NameBook {
    /// When so many names are known, all are forgotten and asked again as they are needed.
    static let capacity = 4096
    /// How many are asked for at once; the next comes when one is answered.
    static let concurrency = 8

    private let resolve: (@Sendable (UserID) async -> String?)?
    private let loop: any EventLoop
    private let learnt: (UserID) -> Void
    /// `.some(nil)`: the app has no name for them.
    private var known: [UserID: String?] = [:]
    private var waiting: [UserID] = []
    private var asking: [UserID: Task<Void, Never>] = [:]

    init(
        _ resolve: (@Sendable (UserID) async -> String?)?, on loop: any EventLoop, learnt: @escaping (UserID) -> Void
    ) {
        self.resolve = resolve
        self.loop = loop
        self.learnt = learnt
    }

    var isAsking: Bool { !asking.isEmpty }

    /// The app's name, if it is known by now; if it is not, `learnt` is called once it is.
    func name(of user: UserID) -> String? {
        if let name = known[user] { return name }
        if resolve != nil, asking[user] == nil, !waiting.contains(user), waiting.count < Self.capacity {
            waiting.append(user)
            ask()
        }
        return nil
    }

    func close() {
        for task in asking.values { task.cancel() }
        (waiting, asking) = ([], [:])
    }

    private func ask() {
        guard let resolve, asking.count < Self.concurrency, !waiting.isEmpty else { return }
        let user = waiting.removeFirst()
        let book = NIOLoopBound(self, eventLoop: loop)
        asking[user] = Task {
            let name = await resolve(user)
            book.eventLoop.execute { book.value.answered(name, for: user) }
        }
    }

    private func answered(_ name: String?, for user: UserID) {
        guard asking.removeValue(forKey: user) != nil else { return }
        if known.count >= Self.capacity { known = [:] }
        known[user] = .some(name)
        if name != nil { learnt(user) }
        ask()
    }
}
