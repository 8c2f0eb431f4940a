// Peers may send anything: the codec returns a message or one of its errors, and it can write everything that it has
// read.

import Foundation
import RollcallProtocol
import TestSupport
import Testing

@Suite struct CodecFuzzTests {
    private let codec = MessageCodec()
    private let frames = Golden.requests.map(\.frame) + Golden.messages.map(\.frame)

    @Test("random bytes crash nothing", arguments: [printedSeed()])
    func randomBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try read(Data(bytes))
        }
    }

    @Test(
        "frames with bytes changed, lost, doubled and swapped crash nothing", arguments: [printedSeed()]
    )
    func mutatedFrames(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            var bytes = Array(frames.randomElement(using: &random)!.utf8)
            let other = Array(frames.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) { bytes.mutate(with: other, using: &random) }
            try read(Data(bytes))
        }
    }

    private func read(_ data: Data) throws {
        do {
            let request = try codec.request(from: data)
            #expect(try codec.request(from: codec.json(of: request)) == request)
        } catch let error as MessageError {
            // The answer can be written with any id.
            #expect(try codec.message(from: codec.json(of: .error(error))) == .error(error))
        } catch is MessageCodec.NotJSON {}
        if let message = try? codec.message(from: data) {
            #expect(try codec.message(from: codec.json(of: message)) == message)
        }
    }
}
