// Commands that wait for their replies: one, or several that were sent together.

import NIOCore

/// Commands that were sent together, and whose replies have not all arrived.
struct Question {
    /// The receiver of the replies: for one command, or with an index for several.
    enum Taker {
        case one((Result<RedisValue, RedisError>) -> Void)
        case each((_ place: Int, Result<FlatReply, RedisError>) -> Void)
    }

    /// The name of each command in errors.
    let label: String
    let sentAt: Int
    let clock: NIODeadline
    /// The number of commands, and how many of them have been answered.
    let count: Int
    var answered = 0
    let taker: Taker

    /// Delivers the next reply.
    func take(_ reply: FlatReply) {
        switch taker {
        case .one(let take): take(.success(reply.tree))
        case .each(let take): take(answered, .success(reply))
        }
    }

    /// Delivers an error as the next reply. It concerns only one command.
    func take(_ failure: RedisError) {
        switch taker {
        case .one(let take): take(.failure(failure))
        case .each(let take): take(answered, .failure(failure))
        }
    }

    /// Fails all commands that were not answered.
    func fail(_ error: RedisError) {
        switch taker {
        case .one(let take): take(.failure(error))
        case .each(let take): for place in answered..<count { take(place, .failure(error)) }
        }
    }
}
