import Foundation
import RollcallProtocol
import Testing

@Suite struct GoldenFileTests {
    private struct File: Decodable {
        var client: [String]
        var worker: [String]
    }

    /// The file is used to test the schemas in `docs/asyncapi-edge.yaml` by a program that does not read Swift.
    @Test("the file of golden frames has the frames of the codec's tests")
    func same() throws {
        let url = URL(filePath: #filePath).appending(path: "../golden-frames.json").standardized
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        #expect(file.client == Golden.requests.map(\.frame))
        #expect(file.worker == Golden.messages.map(\.frame))
    }
}
