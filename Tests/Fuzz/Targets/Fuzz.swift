// `FUZZ_TARGET=codec fuzz [LIBFUZZER-ARGUMENT...]`: libFuzzer generates inputs that reach more and more branches, and
// passes them to a target. A target reports a failure by ending the program, and libFuzzer then saves the input in a
// file. The target is set in the environment because libFuzzer restarts the program with other arguments.

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

/// Ends the program if the condition is false.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError(what()) }
}

/// The rest of an input. After its end, it returns zeros.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    /// Takes at most this many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Takes everything that is left, in pieces whose lengths follow from `seed`.
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
