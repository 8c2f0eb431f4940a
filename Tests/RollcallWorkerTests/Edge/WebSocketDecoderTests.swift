// The rules of RFC 6455 for a client's frames, one by one; then frames split at any place, and random bytes.

import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("The WebSocket decoder")
struct WebSocketDecoderTests {
    /// The result of decoding some bytes.
    struct Outcome: Equatable, CustomStringConvertible {
        var events: [String] = []
        var violation: WebSocketViolation?

        var description: String { events.joined(separator: " ") + (violation.map { " !\($0)" } ?? "") }
    }

    /// Feeds `pieces` to a new decoder, one after another.
    private func decode(_ pieces: some Sequence<[UInt8]>, limit: Int = 1 << 20) -> Outcome {
        var decoder = WebSocketDecoder(limit: limit)
        var message = ByteBuffer()
        var outcome = Outcome()
        do throws(WebSocketViolation) {
            for piece in pieces {
                var input = ByteBuffer(bytes: piece)
                while let event = try decoder.next(&input, message: &message) {
                    switch event {
                    case .text: outcome.events.append("text:\(String(buffer: message))")
                    case .fragment: break
                    case .ping(let payload): outcome.events.append("ping:\(String(decoding: payload, as: UTF8.self))")
                    case .pong: outcome.events.append("pong")
                    case .close(let code): outcome.events.append("close:\(code.map { "\($0.rawValue)" } ?? "")")
                    }
                }
                #expect(input.readableBytes == 0)
            }
        } catch {
            outcome.violation = error
        }
        return outcome
    }

    private func decode(_ frames: ClientFrame..., limit: Int = 1 << 20) -> Outcome {
        decode(frames.map(\.bytes), limit: limit)
    }

    @Test("reads messages, pings, pongs and closes", arguments: [0, 1, 7, 125, 126, 127, 1000, 65_535, 65_536, 70_000])
    func frames(length: Int) {
        let text = String(repeating: "a", count: length)
        #expect(decode(.text(text)).events == ["text:\(text)"])
        #expect(
            decode(.text(""), .ping("now"), .pong, .close(1000, "bye")).events == [
                "text:", "ping:now", "pong", "close:1000",
            ])
        #expect(decode(.close()).events == ["close:"])
    }

    @Test("joins fragments, with control frames between them")
    func fragments() {
        let outcome = decode(
            .text("one ", isFinal: false), .ping("p"), .continuation("", isFinal: false), .pong, .continuation("two"),
            .text("three"))
        #expect(outcome == Outcome(events: ["ping:p", "pong", "text:one two", "text:three"]))
    }

    @Test("refuses what a client must not send")
    func violations() {
        #expect(decode(ClientFrame(opcode: 1, mask: nil)).violation == .unmasked)
        for bits: UInt8 in [1, 2, 4, 7] {
            #expect(decode(ClientFrame(opcode: 1, reserved: bits)).violation == .reservedBits)
        }
        for opcode: UInt8 in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
            #expect(decode(ClientFrame(opcode: opcode)).violation == .unknownOpcode)
        }
        #expect(decode(ClientFrame(opcode: 2, payload: [1])).violation == .binary)
        for opcode: UInt8 in [8, 9, 10] {
            #expect(decode(ClientFrame(opcode: opcode, isFinal: false)).violation == .fragmentedControl)
            let long = [UInt8](repeating: 0x61, count: 126)
            #expect(decode(ClientFrame(opcode: opcode, payload: long)).violation == .longControl)
            #expect(decode(ClientFrame(opcode: opcode, payload: [1], lengthBytes: 2)).violation == .longControl)
        }
        #expect(decode(ClientFrame(opcode: 9, payload: [UInt8](repeating: 0x61, count: 125))).violation == nil)
        #expect(decode(.continuation("x")).violation == .continuationOfNothing)
        #expect(decode(.text("a"), .continuation("x")).violation == .continuationOfNothing)
        #expect(decode(.text("a", isFinal: false), .text("b")).violation == .messageWithinMessage)
        #expect(decode(ClientFrame(opcode: 1, payload: [0x61], lengthBytes: 2)).violation == .lengthNotMinimal)
        #expect(decode(ClientFrame(opcode: 1, payload: [0x61], lengthBytes: 8)).violation == .lengthNotMinimal)
    }

    @Test("accepts a few empty fragments, and refuses a message with too many, which no size limit would end")
    func emptyFragments() {
        let empty = ClientFrame.continuation("", isFinal: false)
        let most = Int(WebSocketDecoder.mostEmptyFragments)
        let few = [ClientFrame.text("a", isFinal: false)] + Array(repeating: empty, count: most) + [.continuation("b")]
        #expect(decode((few + few).map(\.bytes)) == Outcome(events: ["text:ab", "text:ab"]))
        let many = [ClientFrame.text("", isFinal: false)] + Array(repeating: empty, count: most)
        #expect(decode(many.map(\.bytes)).violation == .emptyFragments)
    }

    @Test("refuses a message that is too long as soon as its header says so, however large the number is")
    func tooBig() {
        #expect(decode(.text("12345678"), limit: 8).violation == nil)
        #expect(decode(.text("123456789"), limit: 8).violation == .tooBig)
        #expect(decode(.text("12345", isFinal: false), .continuation("6789"), limit: 8).violation == .tooBig)
        #expect(
            decode(.text("1234", isFinal: false), .ping("not counted"), .continuation("5678"), limit: 8).violation
                == nil)
        for length: UInt64 in [9, 1 << 31, 1 << 32, 1 << 63, .max] {
            let header = [0x81, 0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
            let expected: WebSocketViolation = length < 0x1_0000 ? .lengthNotMinimal : .tooBig
            #expect(decode([header], limit: 8).violation == expected)
        }
    }

    @Test("refuses text that is not UTF-8, within a frame, between fragments and at the end")
    func utf8() {
        let split = ClientFrame(opcode: 1, payload: [0xF0, 0x9F], isFinal: false)
        let rest = ClientFrame(opcode: 0, payload: [0x98, 0x80])
        #expect(decode(split, .ping(), rest).events == ["ping:", "text:😀"])
        #expect(decode(split, .continuation("x")).violation == .notUTF8)
        #expect(decode(ClientFrame(opcode: 1, payload: [0xF0, 0x9F])).violation == .notUTF8)
        // Refused before the message has ended.
        #expect(decode(ClientFrame(opcode: 1, payload: [0xC0, 0x80], isFinal: false)).violation == .notUTF8)
        #expect(decode(split, rest, .text("next")).events == ["text:😀", "text:next"])
    }

    @Test("checks the payload of a close frame")
    func closeFrames() {
        for code: UInt16 in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4000, 4999] {
            #expect(decode(.close(code, "because")).events == ["close:\(code)"])
        }
        for code: UInt16 in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            #expect(decode(.close(code)).violation == .badClosePayload)
        }
        #expect(decode(ClientFrame(opcode: 8, payload: [3])).violation == .badClosePayload)
        #expect(decode(ClientFrame(opcode: 8, payload: [0x03, 0xE8, 0xFF])).violation == .notUTF8)
        #expect(decode(ClientFrame(opcode: 8, payload: [0x03, 0xE8, 0xC3])).violation == .notUTF8)
    }

    @Test("keeps nothing between messages")
    func idle() throws {
        var decoder = WebSocketDecoder(limit: 100)
        var message = ByteBuffer()
        #expect(!decoder.isWithinMessage)
        for byte in ClientFrame.text("a", isFinal: false).bytes + ClientFrame.continuation("b").bytes.dropLast() {
            var input = ByteBuffer(bytes: [byte])
            let event = try decoder.next(&input, message: &message)
            #expect(event != .text)
            #expect(decoder.isWithinMessage)
        }
        var input = ByteBuffer(bytes: ClientFrame.continuation("b").bytes.suffix(1))
        #expect(try decoder.next(&input, message: &message) == .text)
        #expect(!decoder.isWithinMessage)
        for byte in ClientFrame.ping("p").bytes {
            input = ByteBuffer(bytes: [byte])
            _ = try decoder.next(&input, message: &message)
            #expect(!decoder.isWithinMessage)
        }
    }

    @Test("gives the same result for the same bytes, however they are split")
    func randomSplits() {
        let seed = printedSeed()
        var numbers = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let frames = randomFrames(&numbers)
            let bytes = frames.flatMap(\.bytes)
            let whole = decode([bytes])
            #expect(whole.violation == nil, "seed \(seed)")
            #expect(whole.events == expected(of: frames), "seed \(seed)")
            #expect(decode(cut(bytes, &numbers)) == whole, "seed \(seed)")
            #expect(decode(bytes.map { [$0] }) == whole, "seed \(seed)")
        }
    }

    @Test("handles frames with changed bytes, and random bytes")
    func noise() {
        let seed = printedSeed()
        var numbers = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var bytes = randomFrames(&numbers).flatMap(\.bytes)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            let whole = decode([bytes], limit: 4096)
            #expect(decode(cut(bytes, &numbers), limit: 4096) == whole, "seed \(seed)")
            let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            #expect(decode(cut(noise, &numbers)) == decode([noise]), "seed \(seed)")
        }
    }

    private func cut(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = Int.random(in: 0...min(rest.count, 40), using: &numbers)
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }

    /// A few messages, some in fragments that may split characters, with control frames in any place.
    private func randomFrames(_ numbers: inout SeededGenerator) -> [ClientFrame] {
        var frames: [ClientFrame] = []
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            var opcode: UInt8 = 1
            var rest = Array(randomText(&numbers).utf8)[...]
            repeat {
                if Bool.random(using: &numbers) {
                    frames.append([.ping("🏓"), .ping(), .pong].randomElement(using: &numbers)!)
                }
                let length = Int.random(in: 0...rest.count, using: &numbers)
                let part = Bool.random(using: &numbers) ? rest : rest.prefix(length)
                rest = rest.dropFirst(part.count)
                frames.append(ClientFrame(opcode: opcode, payload: Array(part), isFinal: rest.isEmpty))
                frames[frames.count - 1].mask = UInt32.random(in: 0...UInt32.max, using: &numbers)
                opcode = 0
            } while !rest.isEmpty
        }
        return frames
    }

    private func randomText(_ numbers: inout SeededGenerator) -> String {
        let count = [0, 3, 40, 130, 300].randomElement(using: &numbers)!
        return String((0..<count).map { _ in "abcdefghij é€😀".randomElement(using: &numbers)! })
    }

    private func expected(of frames: [ClientFrame]) -> [String] {
        var events: [String] = []
        var message: [UInt8] = []
        for frame in frames {
            let text = String(decoding: frame.payload, as: UTF8.self)
            switch frame.opcode {
            case 9: events.append("ping:\(text)")
            case 10: events.append("pong")
            default:
                message += frame.payload
                guard frame.isFinal else { continue }
                events.append("text:\(String(decoding: message, as: UTF8.self))")
                message = []
            }
        }
        return events
    }
}
