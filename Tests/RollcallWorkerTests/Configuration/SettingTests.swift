import Foundation
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The keys of the configuration")
struct SettingTests {
    /// `Config/worker.yaml`, in the folder next to `Tests`.
    private static let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Config/worker.yaml")

    @Test("Config/worker.yaml shows every key with its actual default, in order, and nothing else")
    func example() throws {
        let file = ConfigurationFile(Self.example)
        #expect(file.problems.isEmpty)
        let text = try String(contentsOf: Self.example, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.contains("#") || $0.contains(": \"") }
        // A key without a default is in the file as `key:` without a value.
        let named = lines.filter { $0.hasPrefix("  ") && $0 != "  webhook:" }
            .map { $0.drop { $0 == " " }.prefix { $0 != ":" } }
        #expect(named == WorkerConfiguration.settings.compactMap { $0.key.split(separator: ".").last })
        for setting in WorkerConfiguration.settings {
            #expect(file.values[setting.key]?.text ?? "" == setting.defaultText, "\(setting.key)")
        }
        #expect(Set(file.values.keys).isSubset(of: WorkerConfiguration.settings.map(\.key)))
    }

    @Test("the example can be loaded, except for the keys that only an operator can set")
    func exampleLoads() async throws {
        _ = try WorkerConfiguration.load(
            file: Self.example, environment: [:], overrides: ["auth.mode": "insecure"])
    }

    @Test("each default's text parses as the default", arguments: WorkerConfiguration.settings.map(\.key))
    func roundTrip(key: String) throws {
        let setting = try #require(WorkerConfiguration.settings.first { $0.key == key })
        var configuration = WorkerConfiguration()
        let before = setting.show(configuration)
        #expect(setting.read(setting.defaultText, &configuration))
        #expect(setting.show(configuration) == before)
        #expect(setting.isAllowed(configuration))
    }

    @Test("a value set in code is checked by the same rules")
    func byHand() {
        var configuration = WorkerConfiguration()
        configuration.auth.mode = .insecure
        #expect(configuration.problems().isEmpty)
        configuration.worker.lease = .milliseconds(10)
        configuration.edge.port = 8081
        #expect(configuration.problems().map(\.key) == ["worker.lease", "admin.port"])
    }

    @Test("every key has a separate variable")
    func variables() {
        #expect(WorkerConfiguration.settings.first?.variable == "ROLLCALL_REDIS_URL")
        #expect(Set(WorkerConfiguration.settings.map(\.variable)).count == WorkerConfiguration.settings.count)
    }

    @Test(
        "durations are read and written in the operators' notation",
        arguments: [
            ("250ms", 250), ("5s", 5000), ("2m", 120_000), ("12h", 43_200_000), ("30d", 2_592_000_000), ("0", 0),
            ("1001ms", 1001), ("90s", 90_000), ("25h", 90_000_000),
        ])
    func durations(text: String, milliseconds: Int64) {
        #expect(DurationText.duration(text) == .milliseconds(milliseconds))
        #expect(DurationText.text(.milliseconds(milliseconds)) == text)
    }

    @Test("similar names are suggested, and others are not")
    func suggestions() {
        let keys = WorkerConfiguration.settings.map(\.key)
        #expect(nearest("redis.ulr", among: keys) == "redis.url")
        #expect(nearest("url", among: keys) == "redis.url")
        #expect(nearest("redis.password", among: keys) == "redis.password_file")
        #expect(nearest("limits.sessionsPerUser", among: keys) == "limits.sessions_per_user")
        #expect(nearest("colour", among: keys) == nil)
    }

    @Test("a worker without a configured id gets one that does not reveal the machine")
    func generatedID() {
        let ids = (0..<1000).map { _ in WorkerConfiguration.Worker.generatedID() }
        #expect(Set(ids).count > 990)
        for id in ids {
            #expect(id.wholeMatch(of: #/worker-[0-9a-f]{8}/#) != nil, "\(id)")
            #expect((1...WorkerConfiguration.Worker.longestID).contains(id.count))
            #expect(id.allSatisfy(WorkerConfiguration.Worker.isAllowedInID))
        }
    }

    /// Regression: handshakes in progress were not counted, of which each event loop may have thousands.
    @Test("sessions and handshakes together leave room for other open files", arguments: [1, 2, 16, 128])
    func sharedFiles(loops: Int) {
        for files in [256, 1024, 2048, 4096, 65_536, 250_000] where files > 100 * loops {
            let handshakes = OpenFileLimit.handshakes(files: files, loops: loops)
            let others = OpenFileLimit.adminConnections(files: files) + OpenFileLimit.adminSpare + 6 * loops
            let all = OpenFileLimit.sessions(files: files, loops: loops) + handshakes * loops + others
            #expect(all <= files && handshakes <= EdgeSettings.mostHandshakes, "\(files) files")
            #expect(all + 64 >= files - loops, "no more than needed is reserved")
        }
    }

    @Test("sessions leave room for other open files")
    func openFiles() {
        #expect(OpenFileLimit.sessions(files: 64, loops: 2) == 26)
        #expect(OpenFileLimit.sessions(files: 1, loops: 2) == 1)
        #expect(OpenFileLimit.sessions(files: .max, loops: 2) == OpenFileLimit.mostSessions)
        #expect(OpenFileLimit.raise() >= OpenFileLimit.sessions)
    }
}
