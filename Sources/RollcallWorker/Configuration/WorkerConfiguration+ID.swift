// A name for a worker that nobody named. Devices are told it, so it says nothing of the machine; operators see the host
// beside it in `rollcall workers`.

extension WorkerConfiguration.Worker {
    /// The longest `worker.id`: it stands in every device's record.
    static let longestID = 64

    /// A name that no other worker has.
    static func generatedID() -> String {
        "worker-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }

    static func isAllowedInID(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }
}
