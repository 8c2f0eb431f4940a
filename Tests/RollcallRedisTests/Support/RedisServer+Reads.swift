import TestSupport
import Testing

extension RedisServer {
    /// How often the server has read from its clients, including this request.
    func readCount() async throws -> Int {
        let line = try await cli("INFO", "stats").split { $0.isNewline }
            .first { $0.hasPrefix("total_reads_processed:") }
        return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
    }
}
