// Compares the validator, which gets text in pieces, with the standard library's, which gets all of it.

import TestSupport
import Testing

@testable import RollcallServer

@Suite("Incremental UTF-8 validation")
struct UTF8ValidatorTests {
    private func isValid(_ pieces: [[UInt8]]) -> Bool {
        var validator = UTF8Validator()
        return pieces.allSatisfy { $0.withUnsafeBytes { validator.accept($0) } } && validator.isComplete
    }

    private func check(_ bytes: [UInt8], _ note: Comment? = nil) {
        let expected = String(validating: bytes, as: UTF8.self) != nil
        #expect(isValid([bytes]) == expected, note)
        #expect(isValid(bytes.map { [$0] }) == expected, note)
    }

    @Test("agrees with the standard library on every one and two bytes")
    func short() {
        for first: UInt8 in 0...255 {
            check([first])
            for second: UInt8 in 0...255 {
                check([first, second])
            }
        }
    }

    @Test("agrees at the limits of every length, on surrogates and on overlong forms")
    func edges() {
        let samples: [[UInt8]] = [
            [0xE0, 0x9F, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xEF, 0xBF, 0xBF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], Array("日本語 and ASCII 😀".utf8), [],
        ]
        samples.forEach { check($0) }
    }

    @Test("agrees on random bytes that are nearly text")
    func random() {
        let seed = printedSeed()
        var numbers = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            var bytes = Array(String((0..<20).map { _ in "aé€😀߿ࠀ퟿".randomElement(using: &numbers)! }).utf8)
            if Bool.random(using: &numbers) {
                bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            check(bytes, "seed \(seed)")
        }
    }

    @Test("refuses at the first byte that cannot be valid")
    func early() {
        for start: [UInt8] in [[0xED, 0xA0], [0xC1], [0xF4, 0x90], [0x80], [0xE2, 0x82, 0x61]] {
            var validator = UTF8Validator()
            let isAccepted = start.withUnsafeBytes { validator.accept($0) }
            #expect(!isAccepted, "\(start)")
        }
    }
}
