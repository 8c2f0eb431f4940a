// Tokens and roles of the admin port. Each role has its own token file, so that the metrics scraper does not hold the
// token that can erase users. Changed files are read again. A second line may keep the previous token valid, so tokens
// rotate without a restart or an interruption.

import Logging
import NIOConcurrencyHelpers
package import RollcallServer

/// What a token permits. Each role includes the roles before it.
package enum AdminRole: String, CaseIterable, Comparable, Sendable {
    /// Metrics, and everything that needs no token.
    case metrics
    /// Everything that changes nothing and is for people.
    case read
    /// What an app's own servers ask for: events, whether to push, members, and typing.
    case app
    case `operator`

    /// The setting that names the role's token file.
    package var key: String {
        switch self {
        case .metrics: "admin.metrics_token_file"
        case .read: "admin.read_token_file"
        case .app: "admin.app_token_file"
        case .operator: "admin.token_file"
        }
    }

    package static func < (left: AdminRole, right: AdminRole) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension WorkerConfiguration.Admin {
    package static let shortestToken = 16

    package func path(_ role: AdminRole) -> String? {
        switch role {
        case .metrics: metricsTokenFile
        case .read: readTokenFile
        case .app: appTokenFile
        case .operator: tokenFile
        }
    }

    /// The contents of the role's file when the configuration was loaded.
    package func contents(_ role: AdminRole) -> Secret? {
        switch role {
        case .metrics: metricsToken
        case .read: readToken
        case .app: appToken
        case .operator: token
        }
    }
}

/// The accepted tokens, kept in sync with their files.
final class AdminTokens: Sendable {
    typealias Tokens = [AdminRole: [Secret]]

    private let current: NIOLockedValueBox<Tokens>
    private let files: [FollowedFiles<[Secret]>]

    init(_ configuration: WorkerConfiguration.Admin, logger: Logger) {
        let current = NIOLockedValueBox(Self.tokens(of: configuration))
        self.current = current
        files = AdminRole.allCases.compactMap { role in
            guard let path = configuration.path(role) else { return nil }
            return FollowedFiles(
                [(role.key, path)], value: [],
                parse: { contents throws(UnusableFile) in
                    let secret = Secret(contents[0].trimmingWhiteSpace)
                    if let problem = Self.problem(secret) { throw UnusableFile(role.key, problem) }
                    var next = current.withLockedValue { $0 }
                    next[role] = Self.tokens(in: secret)
                    if Self.areShared(next) { throw UnusableFile(role.key, "it holds a token of another role") }
                    return next[role] ?? []
                },
                report: { result, isFirst in
                    switch result {
                    case .success(let tokens):
                        current.withLockedValue { $0[role] = tokens }
                        if !isFirst { logger.notice("admin token changed", metadata: ["key": "\(role.key)"]) }
                    case .failure(let error):
                        logger.error(
                            "a new admin token cannot be used; the previous one stays in use",
                            metadata: ["key": "\(error.key)", "reason": "\(error.reason)"])
                    }
                })
        }
    }

    /// Reads changed files, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            for file in files { file.look() }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// Whether anyone who can reach the port has all permissions.
    var isEmpty: Bool { current.withLockedValue(\.isEmpty) }

    /// The source of the audit's hash key: the current operator token.
    var operatorToken: Secret? { current.withLockedValue { $0[.operator]?.first } }

    /// Returns the role of a token; `nil` for an unknown token. Takes the same time for every token.
    func role(of shown: Secret) -> AdminRole? {
        let tokens = current.withLockedValue { $0 }
        var found: AdminRole?
        for role in AdminRole.allCases {
            for token in tokens[role] ?? [] where token == shown { found = role }
        }
        return found
    }

    static func tokens(of configuration: WorkerConfiguration.Admin) -> Tokens {
        AdminRole.allCases.reduce(into: [:]) { tokens, role in
            tokens[role] = configuration.contents(role).map { Self.tokens(in: $0) }
        }
    }

    /// The token in a file, and the previous one if there is a second line.
    private static func tokens(in contents: Secret) -> [Secret] {
        contents.bytes.split { $0 == 0x0A || $0 == 0x0D }.map { Secret(Array($0).trimmingWhiteSpace) }
            .filter { !$0.bytes.isEmpty }
    }

    /// Whether two roles share a token, which would give its holder the stronger role.
    static func areShared(_ tokens: Tokens) -> Bool {
        let all = tokens.values.flatMap { Set($0) }
        return Set(all).count < all.count
    }

    /// Returns what is wrong with a file's contents, if anything.
    static func problem(_ contents: Secret) -> String? {
        let tokens = tokens(in: contents)
        let areFit = tokens.allSatisfy { token in
            token.bytes.count >= WorkerConfiguration.Admin.shortestToken
                && token.bytes.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard !areFit || !(1...2).contains(tokens.count) else { return nil }
        return "the file must have one line with a token of at least \(WorkerConfiguration.Admin.shortestToken) "
            + "printable ASCII characters without spaces (umask 077; openssl rand -hex 32 > admin.token), and at most one more "
            + "line with the previous token"
    }
}
