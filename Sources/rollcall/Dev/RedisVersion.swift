// The version of the installed `redis-server`, for features that need a newer one.

import Foundation

/// Checks the version of Redis.
enum RedisVersion {
    /// - Parameters:
    ///   - major: the first version with the feature. Valkey's version numbers continue those of Redis 7.2.
    ///   - purpose: the feature, as the beginning of a sentence.
    /// - Throws: ``CannotStart`` if the program in `PATH` is older.
    static func require(_ major: Int, for purpose: String) async throws {
        let program = try Program.find("redis-server")
        let child = try Child("redis-server", program: program, arguments: ["--version"])
        for await line in child.lines {
            // For example: Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0
            guard let version = line.firstMatch(of: /v=((\d+)[.\d]*)/), let found = Int(version.2) else { continue }
            guard found < major else { return }
            throw CannotStart("\(purpose) needs Redis \(major).0 or later, and \(program.path) is \(version.1)")
        }
    }
}
