// Fuzzes configuration files, whose errors must be reported, and durations, which are written as they are read.

@testable import RollcallServer
@testable import RollcallWorker

enum ConfigurationTarget {
    @Sendable static func take(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        duration(text)
        let file = ConfigurationFile(name: "worker.yaml", yaml: text)
        var configuration = WorkerConfiguration()
        for setting in WorkerConfiguration.settings {
            guard let value = file.values[setting.key], setting.read(value.text, &configuration) else { continue }
            _ = setting.show(configuration)
        }
        for problem in file.problems + configuration.problems() { _ = "\(problem)" }
        for key in file.values.keys { _ = nearest(key, among: ["redis.url", "limits.sessions"]) }
    }

    private static func duration(_ text: String) {
        guard let duration = DurationText.duration(text) else { return }
        expect(DurationText.duration(DurationText.text(duration)) == duration, "a duration changed on its way")
    }
}
