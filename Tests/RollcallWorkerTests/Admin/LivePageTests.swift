import Foundation
import Testing

@Suite("The live page")
struct LivePageTests {
    private static let folder = URL(filePath: #filePath)
        .appending(path: "../../../../Sources/RollcallWorker/Live").standardized

    @Test("is served without a token, with all of its files as they are in the sources")
    func files() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        try await withAdmin(token: "0123456789abcdef") { ask in
            let anybody = AdminClient(port: ask.port)
            for name in names {
                let answer = try await anybody("GET", name == "live.html" ? "/live" : "/live/\(name)")
                #expect(answer.status == 200, "\(name)")
                #expect(
                    answer.body
                        == String(decoding: try Data(contentsOf: Self.folder.appending(path: name)), as: UTF8.self))
                #expect(answer.headers["x-content-type-options"] == "nosniff")
            }
            for path in ["/live/", "/live/other.js", "/live/live.html", "/live/%6cive.js"] {
                #expect(try await ask("GET", path).status == 404, "\(path)")
            }
            #expect(try await ask("POST", "/live").status == 405)
        }
    }
}
