// The tokens of the admin port, kept in sync with their files.

import Logging
import NIOConcurrencyHelpers
import RollcallConfiguration
import RollcallShards

/// Keeps the tokens in sync with their files.
final class AdminTokenKeeper: Sendable {
    private let current: NIOLockedValueBox<[AdminRole: Secret]>
    private let paths: [AdminRole: String]
    private let logger: Logger

    init(_ configuration: WorkerConfiguration.Admin, logger: Logger) {
        var (contents, paths): ([AdminRole: Secret], [AdminRole: String]) = ([:], [:])
        for role in AdminRole.allCases {
            contents[role] = configuration.contents(role)
            paths[role] = configuration.path(role)
        }
        current = NIOLockedValueBox(contents)
        self.paths = paths
        self.logger = logger
    }

    var tokens: AdminTokens { AdminTokens(current.withLockedValue { $0 }) }

    /// Reads changed files, until the task is cancelled.
    func run() async {
        var files = paths.map { (role: $0, path: $1, watch: FileWatch([$1]), problem: RepeatedProblem()) }
        while !Task.isCancelled {
            for index in files.indices where files[index].watch.hasChanged() {
                let (role, path) = (files[index].role, files[index].path)
                if let reason = take(role, path) {
                    guard files[index].problem.occurred(reason, at: .now) else { continue }
                    logger.error(
                        "a new admin token cannot be used; the previous one stays in use",
                        metadata: ["key": "\(role.key)", "reason": "\(reason)"])
                } else {
                    files[index].problem.ended()
                    files[index].watch.take()
                }
            }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// - Returns: Why the file cannot be used; `nil` if it can.
    private func take(_ role: AdminRole, _ path: String) -> String? {
        let contents: Secret
        do throws(FileContents.Unreadable) {
            contents = Secret(try FileContents.read(path).trimmingWhiteSpace)
        } catch {
            return error.reason
        }
        if let problem = AdminTokens.problem(contents) { return problem }
        let isNew: Bool? = current.withLockedValue { current in
            var next = current
            next[role] = contents
            guard !AdminTokens(next).areShared else { return nil }
            defer { current = next }
            return current != next
        }
        guard let isNew else { return "it holds a token of another role" }
        if isNew { logger.notice("admin token changed", metadata: ["key": "\(role.key)"]) }
        return nil
    }
}
