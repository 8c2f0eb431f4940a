internal import Foundation
internal import Harness

/// Which `rollcall` is put to the test: measurements of another one say nothing about it.
enum Build {
    /// A fingerprint of the program.
    static func current() throws -> String {
        let attributes = try FileManager.default.attributesOfItem(atPath: RollcallProgram.path)
        let (size, date) = (attributes[.size] as? Int ?? 0, attributes[.modificationDate] as? Date ?? .distantPast)
        return "\(size)-\(Int(date.timeIntervalSince1970))"
    }
}
