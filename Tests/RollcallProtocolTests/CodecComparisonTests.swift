// Compares the codec with Foundation's, and with a plain implementation of the RFC's grammar: on valid texts, on nearly
// valid ones, and on hostile ones.

import FoundationCodec
import RollcallProtocol
import TestSupport
import Testing

@Suite(.enabled(if: isSoaking)) struct CodecComparisonTests {
    @Test("JSON is read and written as by Foundation, in any notation")
    func valid() {
        randomised("valid") { random in
            var texts = RandomJSON(random)
            for _ in 0..<2_500 { expectAgreement(Array(texts.message().utf8)) }
        }
    }

    @Test("texts with bytes changed, lost, doubled and swapped are JSON exactly if they match its grammar")
    func mutated() {
        randomised("mutated") { random in
            var texts = RandomJSON(random)
            for _ in 0..<2_500 {
                var text = Array(texts.message().utf8)
                let other = Array(texts.message().utf8)
                for _ in 0..<Int.random(in: 1...3, using: &random) { text.mutate(with: other, using: &random) }
                expectAgreement(text)
            }
        }
    }

    @Test("random bytes are not JSON")
    func hostile() {
        randomised("hostile") { random in
            for _ in 0..<1_000 {
                expectAgreement(
                    (0..<Int.random(in: 0...60, using: &random)).map { _ in .random(in: 0...255, using: &random) })
            }
        }
    }

    @Test("every message of the protocol", arguments: Golden.requests.map(\.frame) + Golden.messages.map(\.frame))
    func golden(frame: String) {
        expectAgreement(Array(frame.utf8))
    }

    private func expectAgreement(_ bytes: [UInt8]) {
        let disagreement = Comparison.disagreement(about: bytes)
        #expect(disagreement == nil)
    }
}
