// Finds the `rollcall` program for tests and for the fault suite: it is built into the same folder.

internal import Foundation

/// The paths of programs that were built.
public enum RollcallProgram {
    public static var path: String { path(of: "rollcall") }

    /// Returns the path of another program of the package.
    public static func path(of name: String) -> String {
        let besideTests = Bundle.main.bundleURL.appending(path: name).path
        if FileManager.default.isExecutableFile(atPath: besideTests) { return besideTests }
        // Elsewhere, the tests run inside a program of the toolchain, outside the package.
        let package = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
        return package.appending(path: ".build/debug/\(name)").path
    }
}
