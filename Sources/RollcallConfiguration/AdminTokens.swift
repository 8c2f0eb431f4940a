// Tokens and roles of the admin port. Each role has its own token file, so that the metrics scraper does not hold the
// token that can erase users. Changed files are read again. A second line may keep the previous token valid, so tokens
// rotate without a restart or an interruption.

package import RollcallShards

/// What a token permits. Each role includes the roles before it.
package enum AdminRole: String, CaseIterable, Comparable, Sendable {
    /// Metrics, and everything that needs no token.
    case metrics
    /// Everything that changes nothing.
    case read
    case `operator`

    /// The setting that names the role's token file.
    package var key: String {
        switch self {
        case .metrics: "admin.metrics_token_file"
        case .read: "admin.read_token_file"
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
        case .operator: tokenFile
        }
    }

    /// The contents of the role's file when the configuration was loaded.
    package func contents(_ role: AdminRole) -> Secret? {
        switch role {
        case .metrics: metricsToken
        case .read: readToken
        case .operator: token
        }
    }
}

/// The accepted tokens.
package struct AdminTokens: Sendable {
    private var tokens: [AdminRole: [Secret]] = [:]

    /// - Parameter contents: The contents of each role's file.
    package init(_ contents: [AdminRole: Secret]) {
        tokens = contents.mapValues(Self.tokens)
    }

    package init(_ configuration: WorkerConfiguration.Admin) {
        self.init(
            Dictionary(
                uniqueKeysWithValues: AdminRole.allCases.compactMap { role in
                    configuration.contents(role).map { (role, $0) }
                }))
    }

    /// Whether anyone who can reach the port has all permissions.
    package var isEmpty: Bool { tokens.isEmpty }

    /// Returns the role of a token; `nil` for an unknown token. Takes the same time for every token.
    package func role(of shown: Secret) -> AdminRole? {
        var found: AdminRole?
        for role in AdminRole.allCases {
            for token in tokens[role] ?? [] where token == shown { found = role }
        }
        return found
    }

    /// The source of the audit's hash key: the current operator token.
    package var operatorToken: Secret? { tokens[.operator]?.first }

    /// The token in a file, and the previous one if there is a second line.
    private static func tokens(_ contents: Secret) -> [Secret] {
        contents.bytes.split { $0 == 0x0A || $0 == 0x0D }.map { Secret(Array($0).trimmingWhiteSpace) }
            .filter { !$0.bytes.isEmpty }
    }

    /// Whether two roles share a token, which would give its holder the stronger role.
    package var areShared: Bool {
        let all = tokens.values.flatMap { Set($0) }
        return Set(all).count < all.count
    }

    /// Returns what is wrong with a file's contents, if anything.
    package static func problem(_ contents: Secret) -> String? {
        let tokens = tokens(contents)
        let areFit = tokens.allSatisfy { token in
            token.bytes.count >= WorkerConfiguration.Admin.shortestToken
                && token.bytes.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard !areFit || !(1...2).contains(tokens.count) else { return nil }
        return "the file must have one line with a token of at least \(WorkerConfiguration.Admin.shortestToken) "
            + "printable ASCII characters without spaces (openssl rand -hex 32 > admin.token), and at most one more "
            + "line with the previous token"
    }
}
