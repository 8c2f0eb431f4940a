// Several commands of one pipeline that are one call to whoever asks.

/// Gathers replies: answers once, when all have come, with their values in order or else with the first error.
final class Gathering<Value> {
    private var values: [Value?]
    private var missing: Int
    private var failure: RedisError?
    private let reply: Store.Reply<[Value]>

    /// Nothing to wait for is answered at once.
    init(_ count: Int, reply: @escaping Store.Reply<[Value]>) {
        values = Array(repeating: nil, count: count)
        missing = count
        self.reply = reply
        if count == 0 { reply(.success([])) }
    }

    /// What takes the reply of this place.
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
