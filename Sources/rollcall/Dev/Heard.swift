// Parses the output of a `redis-cli` that listens, line by line.

import Foundation

/// An event in that output.
enum Heard: Hashable, Sendable {
    /// The subscription is active: no further message is missed.
    case listening
    case message(channel: String, payload: String)
}

/// A parser of lines.
protocol Ear: Sendable {
    /// - Returns: the event that this line completes, if any.
    mutating func take(_ line: String) -> Heard?
}

/// Parses a subscription to patterns, which prints each element of a push on a line of its own.
struct PatternEar: Ear {
    let patterns: [String]
    private var push: [String] = []

    init(_ patterns: [String]) {
        self.patterns = patterns
    }

    mutating func take(_ line: String) -> Heard? {
        if line == "pmessage" || line == "psubscribe" { push = [] }
        push.append(line)
        if push.count == 4, push[0] == "pmessage" { return .message(channel: push[2], payload: push[3]) }
        return push == ["psubscribe", patterns.last, "\(patterns.count)"] ? .listening : nil
    }
}

/// Parses `MONITOR`, which prints all commands of a server. Only those that publish on a shard channel count:
/// `1795338389.379478 [0 lua] "spublish" "typing:{c42}" "{\"user\":\"alice\"}"`.
struct CommandEar: Ear {
    /// The prefixes of the channels of interest.
    let prefixes: [String]

    mutating func take(_ line: String) -> Heard? {
        if line == "OK" { return .listening }
        guard line.range(of: #"] "spublish" "#, options: .caseInsensitive) != nil else { return nil }
        let words = Self.words(of: line)
        guard words.count == 3, words[0].lowercased() == "spublish", prefixes.contains(where: words[1].hasPrefix) else {
            return nil
        }
        return .message(channel: words[1], payload: words[2])
    }

    /// Returns the words in quotation marks. Redis escapes everything but printable ASCII, byte by byte.
    private static func words(of line: String) -> [String] {
        var words: [String] = []
        var word: [UInt8]?
        var rest = line.utf8[...]
        while let byte = rest.popFirst() {
            switch (byte, word) {
            case (UInt8(ascii: "\""), .some(let bytes)):
                words.append(String(decoding: bytes, as: UTF8.self))
                word = nil
            case (UInt8(ascii: "\""), nil): word = []
            case (UInt8(ascii: "\\"), .some): word?.append(escaped(&rest))
            case (_, _): word?.append(byte)
            }
        }
        return words
    }

    /// Returns the byte for an escape sequence, after its backslash.
    private static func escaped(_ rest: inout Substring.UTF8View) -> UInt8 {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "a"): return 7
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "x"):
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            return UInt8(String(digits) ?? "", radix: 16) ?? UInt8(ascii: "?")
        case .some(let byte): return byte
        case nil: return UInt8(ascii: "\\")
        }
    }
}
