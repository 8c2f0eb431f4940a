// A worker's metrics, as tests read them.

import Foundation
import Harness
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum Web {
    /// Sends one GET request.
    static func get(_ address: String, token: String? = nil) async throws -> (status: Int, body: String) {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 20)
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}

/// The response of `GET /metrics`.
struct MetricsPage {
    let text: String

    init(_ worker: WorkerProcess, token: String? = nil) async throws {
        text = try await Web.get("\(worker.admin)/metrics", token: token).body
    }

    /// The names of all metrics.
    var names: Set<String> {
        Set(text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) })
    }

    /// The value of a series, named as `name` or `name{label="…"}`.
    subscript(series: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }
}
