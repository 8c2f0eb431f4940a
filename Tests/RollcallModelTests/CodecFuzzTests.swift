// Peers may be wrong in any way: whatever comes, the codec answers with a message or with one of its errors, and what it
// has read it can write.

import Foundation
import RollcallModel
import TestSupport
import Testing

@Suite struct CodecFuzzTests {
    private let codec = MessageCodec()
    private let frames = Golden.requests.map(\.frame) + Golden.messages.map(\.frame)

    @Test("random bytes crash nothing", arguments: [UInt64.random(in: 0...(.max))])
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
        "frames with bytes changed, lost, doubled and swapped crash nothing", arguments: [UInt64.random(in: 0...(.max))]
    )
    func mutatedFrames(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            var bytes = Array(frames.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes, using: &random) }
            try read(Data(bytes))
        }
    }

    private func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let telling = Array(#"{}[]",:\0123456789eE+-.tfnu"#.utf8)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[place] = telling.randomElement(using: &random)!
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(telling.randomElement(using: &random)!, at: place)
        case 4: bytes.removeSubrange(place...)
        default:
            let other = Array(frames.randomElement(using: &random)!.utf8)
            bytes.replaceSubrange(place..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
        }
    }

    private func read(_ data: Data) throws {
        do {
            let request = try codec.request(from: data)
            #expect(try codec.request(from: codec.json(of: request)) == request)
        } catch let error as MessageError {
            // The answer to it can be written, whatever its id was.
            #expect(try codec.message(from: codec.json(of: .error(error))) == .error(error))
        } catch is MessageCodec.NotJSON {}
        if let message = try? codec.message(from: data) {
            #expect(try codec.message(from: codec.json(of: message)) == message)
        }
    }
}
