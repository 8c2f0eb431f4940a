// A worker whose admin port uses TLS, with its clients: curl, the commands, and Prometheus with the example's settings.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("A worker whose admin port uses TLS", .enabled(if: isSoaking), .timeLimit(.minutes(5)))
struct AdminTLSTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    private let certificates: TestCertificates
    private let pair: TestCertificates.Pair
    private let own: TestCertificates.Pair
    private let tokenFile: URL

    init() async throws {
        certificates = try TestCertificates()
        pair = certificates.first
        own = certificates.second
        tokenFile = certificates.folder.appending(path: "token")
        try Data(Self.token.utf8).write(to: tokenFile)
    }

    private func worker(on redis: TestRedis, asksWhoComes: Bool = false) async throws -> WorkerProcess {
        var settings = [
            "admin.certificate": pair.certificate.path, "admin.private_key": pair.key.path,
            "admin.token_file": tokenFile.path,
        ]
        if asksWhoComes { settings["admin.client_authority"] = certificates.authority.path }
        return try await WorkerProcess("w1", redis: redis.url, settings: settings)
    }

    private typealias Told = (code: Int32, output: String, errors: String)

    private func run(_ arguments: [String]) async throws -> Told {
        let command = try ChildProcess(arguments)
        let code = try await command.exitCode()
        try await eventually("its output is read") { command.outputEnded }
        return (code, command.output, command.errors)
    }

    /// The status that curl receives; 000 for none.
    private func status(_ url: String, _ options: String...) async throws -> String {
        try await run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"] + options + [url]).output
    }

    @Test("works with the commands if they trust its certificate")
    func commands() async throws {
        let redis = try await TestRedis()
        let worker = try await worker(on: redis)
        let ask = [RollcallProgram.path, "workers", "--token-file", tokenFile.path, "--admin"]
        let told = try await run(ask + [worker.admin, "--authority", certificates.authority.path])
        #expect(told.code == 0 && told.output.contains("alive"), "\(told)")
        let distrustful = try await run(ask + [worker.admin])
        #expect(distrustful.code == 69 && distrustful.errors.contains("has issued it (--authority)"))
        let late = certificates.expired
        try certificates.replace(pair, with: late)
        try await eventually("the expired certificate is named", every: .milliseconds(200)) {
            let told = try await run(ask + [worker.admin, "--authority", certificates.authority.path])
            return told.code == 69 && told.errors.contains("it has expired")
        }
        let plain = try await run(ask + ["http://127.0.0.1:\(worker.adminPort)"])
        #expect(plain.code == 69 && plain.errors.contains("the address must begin with https://"), "\(plain)")
    }

    @Test("with a client authority, requires a client certificate from it, and a token")
    func mutual() async throws {
        let redis = try await TestRedis()
        let worker = try await worker(on: redis, asksWhoComes: true)
        let foreign = try TestCertificates(.foreign).first
        let cacert = certificates.authority.path
        func status(showing pair: TestCertificates.Pair?, _ more: [String] = []) async throws -> String {
            let shown = pair.map { ["--cert", $0.certificate.path, "--key", $0.key.path] } ?? []
            return try await run(
                ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", cacert] + shown + more
                    + ["\(worker.admin)/metrics"]
            ).output
        }
        let bearer = ["-H", "Authorization: Bearer \(Self.token)"]
        #expect(try await status(showing: own, bearer) == "200")
        #expect(try await status(showing: own) == "401")
        #expect(try await status(showing: nil, bearer) == "000")
        #expect(try await status(showing: foreign, bearer) == "000")

        let ask = [
            RollcallProgram.path, "workers", "--token-file", tokenFile.path, "--admin", worker.admin, "--authority",
            cacert,
        ]
        let shown = ["--certificate", own.certificate.path, "--private-key", own.key.path]
        #expect(try await run(ask + shown).code == 0)
        let bare = try await run(ask)
        #expect(bare.code == 69 && bare.errors.contains("it requires a client certificate (--certificate"), "\(bare)")
        #expect(try await run(ask + shown.prefix(2)).code == 64)
        for options in [["--authority", cacert], shown] {
            let told = try await run([RollcallProgram.path, "workers", "--admin", "http://127.0.0.1:1"] + options)
            #expect(told.code == 64 && told.errors.contains("\(options[0]) needs an https:// address"), "\(told)")
        }
    }
}
