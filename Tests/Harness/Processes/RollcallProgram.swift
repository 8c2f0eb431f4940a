// The `rollcall` program as a test or the fault suite finds it: built into the same folder.

internal import Foundation

/// Where `rollcall` was built.
public enum RollcallProgram {
    public static var path: String { path(of: "rollcall") }

    /// Where another program of the package was built.
    public static func path(of name: String) -> String {
        let besideTests = Bundle.main.bundleURL.appending(path: name).path
        if FileManager.default.isExecutableFile(atPath: besideTests) { return besideTests }
        // Elsewhere the tests run inside a program of the toolchain, not of the package.
        let package = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
        return package.appending(path: ".build/debug/\(name)").path
    }
}
