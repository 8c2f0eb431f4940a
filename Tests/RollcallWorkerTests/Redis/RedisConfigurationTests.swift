// The configuration for Redis: rules between keys, and files that change while a worker runs.

import Foundation
import Logging
import NIOConcurrencyHelpers
import RollcallRedis
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The configuration of Redis")
struct RedisConfigurationTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// The keys that are refused, and why.
    private func refused(_ overrides: [String: String]) async -> [(key: String, code: ConfigurationProblem.Code)] {
        do {
            let all = ["auth.mode": "insecure"].merging(overrides) { $1 }
            _ = try WorkerConfiguration.load(environment: [:], overrides: all)
            return []
        } catch {
            return error.problems.map { ($0.key, $0.code) }
        }
    }

    @Test("TLS settings are refused without TLS, or if their counterpart is missing")
    func rules() async throws {
        let certificates = try TestCertificates()
        let (one, other) = (certificates.first, certificates.second)
        let (certificate, key, authority) = (one.certificate.path, one.key.path, certificates.authority.path)
        let text = try folder.file("text", "text").path
        let secure = ["redis.url": "rediss://h"]
        #expect(await refused(["redis.authority": authority]).map(\.key) == ["redis.authority"])
        #expect(await refused(["redis.server_name": "h"]).map(\.code) == [.inconsistent])
        for name in ["a b", "10.0.0.5", "::1"] {
            #expect(await refused(secure.merging(["redis.server_name": name]) { $1 }).map(\.code) == [.outOfRange])
        }
        #expect(await refused(secure.merging(["redis.certificate": certificate]) { $1 }).map(\.code) == [.missing])
        #expect(await refused(secure.merging(["redis.private_key": key]) { $1 }).map(\.key) == ["redis.certificate"])
        let pair = secure.merging(["redis.certificate": certificate, "redis.authority": authority]) { $1 }
        #expect(await refused(pair.merging(["redis.private_key": key]) { $1 }).isEmpty)
        for (name, path) in [("redis.private_key", other.key.path), ("redis.private_key", text)] {
            let problems = await refused(pair.merging([name: path]) { $1 })
            #expect(problems.map(\.key) == ["redis.private_key"] && problems.first?.code == .unusableFile)
        }
        let none = await refused(pair.merging(["redis.private_key": key, "redis.authority": text]) { $1 })
        #expect(none.map(\.key) == ["redis.authority"])
    }

    @Test("all problems are reported together")
    func together() async throws {
        let problems = await refused([
            "redis.authority": "/nowhere", "redis.certificate": "/nowhere", "redis.sentinel_user": "rollcall",
        ])
        #expect(
            problems.map(\.key) == ["redis.authority", "redis.certificate", "redis.sentinel_password_file"])
    }

    @Test("Sentinel settings are refused without Sentinel")
    func sentinels() async throws {
        let file = try folder.file("password", "secret").path
        let (alone, watched) = ("redis://h", "redis+sentinel://h1,h2/m")
        func keys(_ url: String, _ user: String?, _ file: String?) async -> [String] {
            var overrides = ["redis.url": url]
            overrides["redis.sentinel_user"] = user
            overrides["redis.sentinel_password_file"] = file
            return await refused(overrides).map(\.key)
        }
        #expect(await keys(watched, "u", file) == [])
        #expect(await keys(watched, nil, file) == [])
        #expect(await keys(watched, "u", nil) == ["redis.sentinel_password_file"])
        #expect(await keys(alone, nil, file) == ["redis.sentinel_password_file"])
        #expect(await keys(watched, "a b", file) == ["redis.sentinel_user"])
    }

    @Test("files are read again, and the previous content stays while a file is unusable")
    func files() async throws {
        let certificates = try TestCertificates()
        let pair = certificates.first
        var redis = WorkerConfiguration.Redis()
        redis.passwordFile = try folder.file("password", "one\n").path
        redis.sentinelPasswordFile = try folder.file("sentinels", "s1\n").path
        redis.authority = certificates.authority.path
        redis.certificate = pair.certificate.path
        redis.privateKey = pair.key.path
        let told = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "files") { _ in Told(lines: told) }
        let files = try RedisFiles(redis, isEncrypted: true, logger: logger)
        let first = files.credentials()
        #expect(first.password == "one" && first.sentinelPassword == "s1")
        #expect(files.credentials().tls?.context === first.tls?.context, "an unchanged context is reused")

        try folder.file("password", " two \n")
        try certificates.replace(pair, with: certificates.second)
        let second = files.credentials()
        #expect(second.password == " two " && second.tls?.context !== first.tls?.context)
        #expect(told.withLockedValue { $0 }.isEmpty)

        try FileManager.default.removeItem(at: folder.url.appending(path: "password"))
        #expect(files.credentials().password == " two ")
        try folder.file("password", "three")
        try Data("rubbish".utf8).write(to: pair.key)
        #expect(files.credentials().password == " two ", "they change together")
        #expect(told.withLockedValue { $0 } == ["redis.password_file", "redis.private_key"])
    }
}

/// Records the key that each line names.
private struct Told: LogHandler {
    let lines: NIOLockedValueBox<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.withLockedValue { $0.append("\(event.metadata?["key"] ?? "")") }
    }
}
