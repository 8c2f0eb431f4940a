// A name for a worker that nobody named: it tells an operator the machine, and two workers of one machine apart.

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension WorkerConfiguration.Worker {
    /// The longest `worker.id`: it stands in every device's record.
    static let longestID = 64

    /// The host's name, cleaned, and a random part.
    static func generatedID(host: String = ProcessInfo.processInfo.hostName) -> String {
        // What follows the first dot is the same for all machines of a house.
        let name = host.prefix { $0 != "." }.filter(isAllowedInID).prefix(32)
        let random = String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        return "\(name.isEmpty ? "worker" : name)-\(random)"
    }

    static func isAllowedInID(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }
}
