// What a Redis lacks for a worker: rights, commands, or writability. Each has a different cause and remedy.

import RollcallModel

/// What a worker would lack in a Redis.
public struct Shortfall: Hashable, Sendable {
    /// The missing rights, in the order of ``WorkerRights/all``.
    public var rights: [RedisRight]
    /// The commands that this Redis does not know, because they were renamed or it is too old.
    public var commands: [String]
    /// Why it accepts no writes at the moment, in its own words; `nil` if it does.
    public var refusal: String?

    public init(rights: [RedisRight] = [], commands: [String] = [], refusal: String? = nil) {
        self.rights = rights
        self.commands = commands
        self.refusal = refusal
    }

    mutating func add(_ lack: Lack) {
        switch lack {
        case .right(let right): rights.append(right)
        case .command(let name): if !commands.contains(name) { commands.append(name) }
        case .writing(let reason): refusal = refusal ?? reason
        }
    }
}

/// What one error reply shows to be missing.
enum Lack: Hashable {
    case right(RedisRight)
    /// A command in the form in which people write it.
    case command(String)
    case writing(String)

    var right: RedisRight? {
        if case .right(let right) = self { return right }
        return nil
    }
}

extension RedisServerError {
    /// Returns what is missing if this error is the reply to a command with this name.
    func lack(of name: String) -> Lack? {
        switch kind {
        case "NOPERM": .right(.command(name))
        case "NOREPLICAS", "MISCONF", "OOM": .writing(description)
        case "ERR" where message.lowercased().begins(with: "unknown "):
            .command(name.uppercased().replacing("|", with: " "))
        default: nil
        }
    }
}
