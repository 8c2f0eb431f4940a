// What waits for its replies: one command, or several that were sent as one.

import NIOCore

/// Commands that were sent together, and whose replies have not all come.
struct Question {
    /// Who takes the replies: that of one command, or each with its place among several.
    enum Taker {
        case one((Result<RedisValue, RedisError>) -> Void)
        case each((_ place: Int, Result<FlatReply, RedisError>) -> Void)
    }

    /// What errors call each of the commands.
    let label: String
    let sentAt: Int
    let clock: NIODeadline
    /// How many commands it is, and how many of them have been answered.
    let count: Int
    var answered = 0
    let taker: Taker

    /// Hands the next reply over.
    func take(_ reply: FlatReply) {
        switch taker {
        case .one(let take): take(.success(reply.tree))
        case .each(let take): take(answered, .success(reply))
        }
    }

    /// The next command failed, and no other.
    func take(_ failure: RedisError) {
        switch taker {
        case .one(let take): take(.failure(failure))
        case .each(let take): take(answered, .failure(failure))
        }
    }

    /// The replies that are missing will not come.
    func fail(_ error: RedisError) {
        switch taker {
        case .one(let take): take(.failure(error))
        case .each(let take): for place in answered..<count { take(place, .failure(error)) }
        }
    }
}
