// Generated worker names. Devices receive the name, so it reveals nothing about the machine. Operators see the host
// beside it in `rollcall workers`.

extension WorkerConfiguration.Worker {
    /// The longest `worker.id`. It is stored in every device's record.
    package static let longestID = 64

    /// Returns a name that no other worker has.
    static func generatedID() -> String {
        "worker-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }

    package static func isAllowedInID(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }
}
