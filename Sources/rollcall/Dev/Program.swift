// Programs that are not ours, and the one that is.

import Foundation

/// Where programs are.
enum Program {
    /// The program of this name in `PATH`.
    ///
    /// - Throws: ``CannotStart`` with what to do if it is not installed.
    static func find(_ name: String) throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = folders.map { URL(fileURLWithPath: String($0)).appending(path: name) }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CannotStart("\(name) is not installed: run `make setup`, or install Redis 6.2 or later")
        }
        return program
    }

    /// The program that is running.
    static var own: URL {
        Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    }
}

/// Something that is needed is not there.
struct CannotStart: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
