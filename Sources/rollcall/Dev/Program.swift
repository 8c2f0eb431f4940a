// Finds other programs, and this one.

import Foundation

/// The paths of programs.
enum Program {
    /// Returns the program of this name in `PATH`.
    ///
    /// - Throws: ``CannotStart``, with advice, if it is not installed.
    static func find(_ name: String) throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = folders.map { URL(fileURLWithPath: String($0)).appending(path: name) }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CannotStart("\(name) is not installed: run `make setup`, or install Redis 6.2 or later")
        }
        return program
    }

    /// The running program.
    static var own: URL {
        Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    }
}

/// Something required is missing.
struct CannotStart: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
