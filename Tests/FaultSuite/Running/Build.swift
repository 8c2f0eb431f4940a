internal import Foundation
internal import Harness

/// Identifies the `rollcall` build under test: results of other builds do not apply to it.
enum Build {
    /// Returns a fingerprint of the program.
    static func current() throws -> String {
        let attributes = try FileManager.default.attributesOfItem(atPath: RollcallProgram.path)
        let (size, date) = (attributes[.size] as? Int ?? 0, attributes[.modificationDate] as? Date ?? .distantPast)
        return "\(size)-\(Int(date.timeIntervalSince1970))"
    }
}
