// What one process of a load is to do, as a value. The plans of a load's processes differ only in their part.

/// What the devices do.
package enum ScenarioKind: String, CaseIterable, Sendable, Codable {
    /// They are connected, watch some users, join some conversations, and do nothing.
    case idle
    /// They connect, and do nothing else.
    case storm
    /// They connect, type, send, become idle and leave, at random times.
    case chat
    /// They are all in one conversation, in which some users type.
    case room
    /// They lose their connections, and reconnect.
    case reconnect
    /// Pairs who type to each other during another scenario. They show what that load does to users who were there
    /// before.
    case witness
}

/// A process's part in a load.
package struct Plan: Sendable {
    package var scenario: ScenarioKind
    /// The number of devices in all processes.
    package var devices: Int
    /// This process's devices, numbered over all processes.
    package var numbers: Range<Int>
    /// How long to measure.
    package var duration: Duration
    /// New connections per second of this process; `nil` for all at once.
    package var rate: Double?
    /// The number of users who type in the scenario `room`.
    package var typists = 8
    /// How often a user of this process starts to type in the scenario `chat`, per second.
    package var bursts = 0.0
    /// Whether the scenario `reconnect` cuts connections itself. If not, something else must end them.
    package var cuts = true
    /// The prefix of the names of users and conversations.
    package var name = "load"
    /// The seed for random numbers: the same seed gives the same course.
    package var seed: UInt64 = 1

    /// - Parameters:
    ///   - part: the index of this process among those that share the devices.
    ///   - parts: the number of these processes.
    package init(_ scenario: ScenarioKind, devices: Int, part: Int = 0, of parts: Int = 1, duration: Duration) {
        (self.scenario, self.devices, self.duration) = (scenario, devices, duration)
        numbers = devices * part / parts..<devices * (part + 1) / parts
    }

    /// The number of this process's devices.
    package var count: Int { numbers.count }

    /// The name of the user of one of this process's devices.
    package func user(_ device: Int) -> String { user(ofAll: numbers.lowerBound + device) }

    package func user(ofAll number: Int) -> String { "\(name)-\(number)" }

    package func conversation(_ words: String) -> String { "\(name)-\(words)" }

    /// Returns a user's number over all processes; `nil` if the user does not belong to this load.
    package func number(ofUser user: String) -> Int? {
        guard user.hasPrefix("\(name)-") else { return nil }
        return Int(user.dropFirst(name.count + 1))
    }
}
