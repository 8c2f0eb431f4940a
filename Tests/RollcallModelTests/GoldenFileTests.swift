import Foundation
import RollcallModel
import Testing

@Suite struct GoldenFileTests {
    private struct File: Decodable {
        var client: [String]
        var worker: [String]
    }

    /// The file is what the schemas in `docs/asyncapi-edge.yaml` are tried against, by a program that reads no Swift.
    @Test("the file of golden frames has the frames that the codec is held to")
    func same() throws {
        let url = URL(filePath: #filePath).appending(path: "../golden-frames.json").standardized
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        #expect(file.client == Golden.requests.map(\.frame))
        #expect(file.worker == Golden.messages.map(\.frame))
    }
}
