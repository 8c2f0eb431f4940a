// Runs the programs in docs/identity.md as they are printed: a real worker accepts the tokens that they make.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("The programs in docs/identity.md", .timeLimit(.minutes(5)))
struct IdentityPageTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized
    private let folder: URL

    /// Writes the page's programs into a folder with the files that they need.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-page-\(UUID().uuidString.prefix(8))")
        let secrets = folder.appending(path: "secrets")
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: true)
        let secret = (0..<24).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
        try Data("\(secret)\n".utf8).write(to: secrets.appending(path: "jwt_secret"))
        let page = try String(contentsOf: Self.package.appending(path: "docs/identity.md"), encoding: .utf8)
        for program in page.matches(of: #/```(?:python|js|sh) (\S+)\n((?:.|\n)*?)```/#) {
            try Data(program.output.2.utf8).write(to: folder.appending(path: String(program.output.1)))
        }
    }

    @Test("make tokens that a worker accepts")
    func programs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await run("sh", "keys.sh")
        _ = try await run("node", "keys.mjs")
        let venv = Self.package.appending(path: ".build-venv-identity").path
        let tokens = [
            try await run(
                "sh", Self.package.appending(path: "Tests/venv.sh").path, venv,
                Self.package.appending(path: "Tests/identity/requirements.txt").path, "mint.py"),
            try await run("node", "token.mjs"),
            try await run("sh", "token.sh"),
        ]
        let redis = try await TestRedis()
        let worker = try await WorkerProcess(
            "w1", redis: redis.url,
            settings: [
                "auth.mode": "jwt", "auth.secret_file": folder.appending(path: "secrets/jwt_secret").path,
                "auth.jwks_file": folder.appending(path: "keys.json").path,
            ])
        for token in tokens {
            let device = try await WireDevice(port: worker.port)
            try await device.hello(token: token, device: "phone")
            #expect(try await device.welcome()?.user == "alice")
        }
    }

    /// - Returns: what the program printed.
    private func run(_ arguments: String...) async throws -> String {
        let child = try ChildProcess(["sh", "-c", #"cd "$0" && exec "$@""#, folder.path] + arguments)
        // The first run downloads the package.
        let code = try await child.exitCode(within: .seconds(120))
        try await eventually("its output is read") { child.outputEnded }
        #expect(code == 0, "\(arguments): \(child.errors)")
        return child.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
