// What is said first on a new connection, and what of the answers ends it. Everything goes out in one pipeline; a
// server that is not ready says so to `PING`, which also tells a server without a password from one with.

import RollcallModel

/// The commands that open a connection.
struct Handshake {
    enum Step: Hashable {
        case authenticate
        case probe
        case select
        case name
        case load(Script)
    }

    let steps: [(step: Step, command: RedisCommand)]

    /// For a connection that sends commands.
    static func commands(_ location: RedisLocation, name: String, scripts: [Script]) -> Handshake {
        let select = location.database == 0 ? nil : RedisCommand("SELECT", .integer(Int64(location.database)))
        return Handshake(
            steps: introduction(location, name: name) + (select.map { [(.select, $0)] } ?? [])
                + scripts.map { (.load($0), RedisCommand("SCRIPT", "LOAD", .string($0.source))) })
    }

    /// For a connection that subscribes: channels know no databases.
    static func subscriber(_ location: RedisLocation, name: String) -> Handshake {
        Handshake(steps: introduction(location, name: name))
    }

    private static func introduction(
        _ location: RedisLocation, name: String
    ) -> [(step: Step, command: RedisCommand)] {
        var steps: [(step: Step, command: RedisCommand)] = []
        if let password = location.password {
            let user = location.username.map { [RedisCommand.Argument.string($0)] } ?? []
            steps.append((.authenticate, RedisCommand("AUTH", arguments: user + [.string(password)])))
        }
        steps.append((.probe, RedisCommand("PING")))
        steps.append((.name, RedisCommand("CLIENT", "SETNAME", .string(name))))
        return steps
    }

    /// What an error in answer to a step means.
    ///
    /// - Returns: why the connection is of no use; `nil` if it is all the same.
    static func verdict(on step: Step, _ error: RedisServerError) -> RedisError? {
        switch step {
        case .authenticate where error.isAboutCredentials, .probe where error.kind == "NOAUTH":
            RedisError(.authentication, command: "AUTH", "Redis refused the user or the password", underlying: error)
        case .authenticate: RedisError(error, command: "AUTH")
        case .select: RedisError(error, command: "SELECT")
        // A user without the right to ping may have all others; a full disk refuses writes and `PING`.
        case .probe: ["NOPERM", "MISCONF"].contains(error.kind) ? nil : RedisError(error, command: "PING")
        // A nameless connection works; a script that is not loaded is sent whole when it is called.
        case .name, .load: nil
        }
    }
}

extension RedisServerError {
    /// Whether this answer to `AUTH` is about whom it named, rather than about the server's state.
    fileprivate var isAboutCredentials: Bool {
        ["WRONGPASS", "NOAUTH", "NOPERM"].contains(kind) || message.firstBytes(of: "AUTH") != nil
            || message.firstBytes(of: "password") != nil
    }
}
