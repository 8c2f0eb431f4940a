// What was read, or why it was not: a user of Redis with least rights may look at little, which is as it should be.

import RollcallRedis

/// A value that was read, or why there is none.
typealias Reading<Value> = Result<Value, Unread>

/// Why something could not be read.
enum Unread: Error, Hashable, Sendable {
    /// The user of Redis has not this right.
    case denied(RedisRight)
    /// Anything else.
    case failed(String)

    var sentence: String {
        switch self {
        case .denied(let right): "could not look: the user of Redis lacks the right \(right)"
        case .failed(let reason): "could not look: \(reason)"
        }
    }
}

extension Result where Success == RedisValue, Failure == RedisError {
    /// The value in a reply.
    ///
    /// - Parameter right: the name by which Redis's access control lists know the command, such as `config|get`.
    func reading<Value>(right: String, _ read: (RedisValue) -> Value?) -> Reading<Value> {
        switch self {
        case .success(let value): read(value).map { .success($0) } ?? .failure(.failed("Redis answered something else"))
        case .failure(let error) where error.isDenied: .failure(.denied(.command(right)))
        case .failure(let error): .failure(.failed(error.sentence))
        }
    }
}

extension Result where Failure == Unread {
    /// What was read, if it was.
    var value: Success? { try? get() }

    /// What to think of the value; of what could not be read, that it was skipped.
    func judged(_ check: Check, _ judge: (Success) -> Finding) -> Finding {
        switch self {
        case .success(let value): judge(value)
        case .failure(let unread): Finding(check, .skipped, unread.sentence)
        }
    }
}
