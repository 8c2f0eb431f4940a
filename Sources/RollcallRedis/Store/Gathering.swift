// Combines several pipelined commands into one call.

/// Collects replies, and replies once when all have arrived: with their values in order, or with the first error.
final class Gathering<Value> {
    private var values: [Value?]
    private var missing: Int
    private var failure: RedisError?
    private let reply: Store.Reply<[Value]>

    /// With a count of 0, it replies at once.
    init(_ count: Int, reply: @escaping Store.Reply<[Value]>) {
        values = Array(repeating: nil, count: count)
        missing = count
        self.reply = reply
        if count == 0 { reply(.success([])) }
    }

    /// Returns the receiver of the reply with this index.
    func part(_ index: Int) -> Store.Reply<Value> {
        { [self] result in
            switch result {
            case .success(let value): values[index] = value
            case .failure(let error): failure = failure ?? error
            }
            missing -= 1
            if missing == 0 { reply(failure.map { .failure($0) } ?? .success(values.compactMap { $0 })) }
        }
    }
}
