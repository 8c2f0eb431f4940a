// What one process of a load is to do, as a value. All processes of a load have the same but for which part they are.

/// What the devices do.
package enum ScenarioKind: String, CaseIterable, Sendable, Codable {
    /// They are there, watch some people, belong to some conversations, and do nothing.
    case idle
    /// They connect, and that is it.
    case storm
    /// They come, type, send, look away and leave, each in their own time.
    case chat
    /// They are all in one conversation, in which some type.
    case room
    /// They lose their connections, and come back.
    case reconnect
    /// Pairs who type to each other, beside any of the above: what those notice who were there before.
    case witness
}

/// A process's part in a load.
package struct Plan: Sendable {
    package var scenario: ScenarioKind
    /// Of all processes together.
    package var devices: Int
    /// Which of them are this process's, counted over all.
    package var numbers: Range<Int>
    /// How long it is measured.
    package var duration: Duration
    /// Connections a second of this process; `nil`: all at once.
    package var rate: Double?
    /// How many people type in the one room.
    package var typists = 8
    /// How often somebody of this process begins to type in the chat, a second.
    package var bursts = 0.0
    /// Whether connections are cut in the reconnect scenario, or something else sees to it.
    package var cuts = true
    /// What the names of users and conversations begin with.
    package var name = "load"
    /// Of chance: the same number, the same course.
    package var seed: UInt64 = 1

    /// - Parameter part: which of so many processes that share the devices.
    package init(_ scenario: ScenarioKind, devices: Int, part: Int = 0, of parts: Int = 1, duration: Duration) {
        (self.scenario, self.devices, self.duration) = (scenario, devices, duration)
        numbers = devices * part / parts..<devices * (part + 1) / parts
    }

    /// How many devices this process has.
    package var count: Int { numbers.count }

    /// The name of the user of a device of this process.
    package func user(_ device: Int) -> String { user(ofAll: numbers.lowerBound + device) }

    package func user(ofAll number: Int) -> String { "\(name)-\(number)" }

    package func conversation(_ words: String) -> String { "\(name)-\(words)" }

    /// Whose name this is, counted over all; `nil` if it is none of this load.
    package func number(ofUser user: String) -> Int? {
        guard user.hasPrefix("\(name)-") else { return nil }
        return Int(user.dropFirst(name.count + 1))
    }
}
