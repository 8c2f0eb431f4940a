// `FUZZ_TARGET=codec fuzz [LIBFUZZER-ARGUMENT...]`: libFuzzer makes inputs that reach ever more branches, and a target takes
// them. What a target finds out it says by ending the program, which leaves the input behind in a file. The target stands
// in the environment, since libFuzzer starts the program again with arguments of its own.

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
        guard let name = getenv("FUZZ_TARGET"), let chosen = targets[String(cString: name)] else {
            print("FUZZ_TARGET is none of \(targets.keys.sorted().joined(separator: ", "))")
            exit(64)
        }
        target = chosen
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                Fuzz.target(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
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
