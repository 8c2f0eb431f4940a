// Script calls: by hash if Redis has cached the script, otherwise with the source.

extension CommandConnection {
    /// Runs a script.
    ///
    /// If the script was passed to the connection's initializer, only its hash is sent, otherwise the source. If Redis
    /// has lost the script (`SCRIPT FLUSH`), the call is sent again with the source, once. It then runs after any
    /// commands sent in between, so calls whose order matters must carry it in their arguments. Calls in one pipeline
    /// that are all sent again keep their order.
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
