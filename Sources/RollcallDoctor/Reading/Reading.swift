// A value that was read, or the reason why not. Redis users with minimal rights may read little, and that is fine.

import RollcallRedis

/// A value that was read, or the reason why not.
typealias Reading<Value> = Result<Value, Unread>

/// Why something could not be read.
enum Unread: Error, Hashable, Sendable {
    /// The Redis user lacks this right.
    case denied(RedisRight)
    /// Any other reason.
    case failed(String)

    var sentence: String {
        switch self {
        case .denied(let right): "not checked: the Redis user lacks the right \(right)"
        case .failed(let reason): "not checked: \(reason)"
        }
    }
}

extension Result where Success == RedisValue, Failure == RedisError {
    /// The value in a reply.
    ///
    /// - Parameter right: The command's name in Redis's access control lists, such as `config|get`.
    func reading<Value>(right: String, _ read: (RedisValue) -> Value?) -> Reading<Value> {
        switch self {
        case .success(let value): read(value).map { .success($0) } ?? .failure(.failed("unexpected reply from Redis"))
        case .failure(let error) where error.isDenied: .failure(.denied(.command(right)))
        case .failure(let error): .failure(.failed(error.sentence))
        }
    }
}

extension Result where Failure == Unread {
    /// The value; `nil` if it could not be read.
    var value: Success? { try? get() }

    /// Returns the finding for the value, or a skipped check if there is none.
    func judged(_ check: Check, _ judge: (Success) -> Finding) -> Finding {
        switch self {
        case .success(let value): judge(value)
        case .failure(let unread): Finding(check, .skipped, unread.sentence)
        }
    }
}
