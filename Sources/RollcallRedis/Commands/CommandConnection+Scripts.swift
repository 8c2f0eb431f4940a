// Calls of scripts: by hash as long as Redis remembers the script, and whole when it does not.

extension CommandConnection {
    /// Runs a script.
    ///
    /// Redis is sent only the hash of a script that was handed over when the connection was made, else the source.
    /// Should Redis have forgotten the script (`SCRIPT FLUSH`), the call is sent again with the source, once; it then
    /// runs after whatever was sent in between, so calls whose order matters carry it in their arguments. Calls in one
    /// pipeline that all met the same oblivion keep their order.
    ///
    /// - Parameter reply: as for ``send(_:reply:)``; errors name the script.
    public func call(
        _ script: Script, keys: [String], arguments: [RedisCommand.Argument],
        reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        guard let hash = hashes[script.name] else {
            return send(Self.call("EVAL", script.source, keys, arguments), label: script.label, reply: reply)
        }
        let command = Self.call("EVALSHA", hash, keys, arguments)
        send(command, label: script.label) { [unowned self] result in
            guard case .failure(let error) = result, error.code == .server(kind: "NOSCRIPT") else {
                return reply(result)
            }
            let whole = RedisCommand("EVAL", arguments: [.string(script.source)] + command.arguments.dropFirst())
            send(whole, label: script.label, reply: reply)
        }
    }

    static func call(
        _ name: String, _ script: String, _ keys: [String], _ arguments: [RedisCommand.Argument]
    ) -> RedisCommand {
        var all: [RedisCommand.Argument] = []
        all.reserveCapacity(2 + keys.count + arguments.count)
        all.append(.string(script))
        all.append(.integer(Int64(keys.count)))
        for key in keys { all.append(.string(key)) }
        all.append(contentsOf: arguments)
        return RedisCommand(name, arguments: all)
    }
}
