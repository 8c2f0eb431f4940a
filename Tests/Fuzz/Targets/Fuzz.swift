// `fuzz TARGET [LIBFUZZER-ARGUMENT...]`: libFuzzer makes inputs that reach ever more branches, and a target takes them.
// What a target finds out it says by ending the program, which leaves the input behind in a file.

import CFuzzer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
enum Fuzz {
    static let targets: [String: @Sendable ([UInt8]) -> Void] = [
        "codec": CodecTarget.take,
        "configuration": ConfigurationTarget.take,
        "redis": RedisTarget.take,
        "session": SessionTarget.take,
        "websocket": WebSocketTarget.take,
    ]

    nonisolated(unsafe) private static var target: @Sendable ([UInt8]) -> Void = { _ in }

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let chosen = targets[arguments[1]] else {
            print("usage: fuzz \(targets.keys.sorted().joined(separator: "|")) [LIBFUZZER-ARGUMENT...]")
            exit(64)
        }
        target = chosen
        var pointers = ([arguments[0]] + arguments.dropFirst(2)).map { strdup($0) }
        var count = Int32(pointers.count)
        pointers.append(nil)
        pointers.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            exit(
                LLVMFuzzerRunDriver(&count, &start) { data, size in
                    Fuzz.target(Array(UnsafeBufferPointer(start: data, count: size)))
                    return 0
                })
        }
    }
}

/// Ends the program, since what was expected is not so.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError(what()) }
}

/// What is left of an input. Where it has ended it gives zeros.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    /// At most so many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// All the rest, in pieces whose lengths follow from `seed`.
    mutating func pieces(seed: UInt8) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var length = Int(seed)
        while !isEmpty {
            length = (length * 37 + 11) % 61
            pieces.append(bytes(1 + length % (1 + Int(seed) % 31)))
        }
        return pieces
    }
}
