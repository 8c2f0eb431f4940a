// A command that can be sent again to another node.

import NIOCore

/// A command or script call on the keys of one slot.
struct ClusterErrand {
    enum Task {
        case command(RedisCommand)
        case script(Script, [String], [RedisCommand.Argument])
    }

    let slot: Int
    /// The command's name in errors.
    let label: String
    let task: Task
    let reply: (Result<RedisValue, RedisError>) -> Void
    /// The number of redirections so far.
    var hops = 0

    /// - Parameter isAsked: whether another node redirected this one command here with `ASK`. The command is then
    ///   preceded by `ASKING` in the same write, and a script is sent as source, so that it need not be sent twice.
    func run(
        on connection: CommandConnection, isAsked: Bool, reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        switch (task, isAsked) {
        case (.command(let command), false): connection.send(command, label: label, reply: reply)
        case (.script(let script, let keys, let arguments), false):
            connection.call(script, keys: keys, arguments: arguments, reply: reply)
        case (.command(let command), true): ask(command, on: connection, reply)
        case (.script(let script, let keys, let arguments), true):
            ask(CommandConnection.call("EVAL", script.source, keys, arguments), on: connection, reply)
        }
    }

    private func ask(
        _ command: RedisCommand, on connection: CommandConnection,
        _ reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        connection.send(label, count: 2) { place, output in
            output.write(place == 0 ? RedisCommand("ASKING") : command)
        } reply: { place, result in
            if place == 1 { reply(result.map(\.tree)) }
        }
    }
}
