// What a Redis does not give a worker: rights, commands, or to write at all. Each is somebody else's to mend, and another's.

import RollcallModel

/// What a worker would miss in a Redis.
public struct Shortfall: Hashable, Sendable {
    /// What its user may not do, in the order of ``WorkerRights/all``.
    public var rights: [RedisRight]
    /// The commands that this Redis does not know: they have been renamed, or it is too old for them.
    public var commands: [String]
    /// Why it takes no writes just now, in its own words; `nil` if it does.
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

/// What one refusal tells.
enum Lack: Hashable {
    case right(RedisRight)
    /// A command as people write it.
    case command(String)
    case writing(String)

    var right: RedisRight? {
        if case .right(let right) = self { return right }
        return nil
    }
}

extension RedisServerError {
    /// What is missing, if this is the answer to that command.
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
