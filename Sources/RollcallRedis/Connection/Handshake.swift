// The first commands on a new connection, and the error replies that end it. All are sent in one pipeline. `PING`
// reveals a server that is not ready, and one that requires a password that was not given.

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

    /// The handshake of a connection for commands.
    static func commands(_ location: RedisLocation, name: String, scripts: [Script]) -> Handshake {
        let select = location.database == 0 ? nil : RedisCommand("SELECT", .integer(Int64(location.database)))
        return Handshake(
            steps: introduction(location, name: name) + (select.map { [(.select, $0)] } ?? [])
                + scripts.map { (.load($0), RedisCommand("SCRIPT", "LOAD", .string($0.source))) })
    }

    /// The handshake of a connection for subscriptions. Channels do not depend on the database.
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

    /// Judges an error reply to a step.
    ///
    /// - Returns: why the connection cannot be used; `nil` if it can be used in spite of the error.
    static func verdict(on step: Step, _ error: RedisServerError) -> RedisError? {
        switch step {
        case .authenticate where error.isAboutCredentials, .probe where error.kind == "NOAUTH":
            RedisError(.authentication, command: "AUTH", "Redis refused the user or the password", underlying: error)
        case .authenticate: RedisError(error, command: "AUTH")
        case .select: RedisError(error, command: "SELECT")
        // A user without the right to ping may have all other rights. After a failed save, Redis refuses both writes
        // and `PING`.
        case .probe: ["NOPERM", "MISCONF"].contains(error.kind) ? nil : RedisError(error, command: "PING")
        // A connection without a name works; a script that was not loaded is sent as source when it is called.
        case .name, .load: nil
        }
    }
}

extension RedisServerError {
    /// Whether this reply to `AUTH` concerns the credentials, rather than the state of the server.
    fileprivate var isAboutCredentials: Bool {
        ["WRONGPASS", "NOAUTH", "NOPERM"].contains(kind) || message.firstBytes(of: "AUTH") != nil
            || message.firstBytes(of: "password") != nil
    }
}
