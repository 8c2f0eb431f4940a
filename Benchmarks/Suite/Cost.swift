// What a process has used of the machine, as Linux counts it.

import Foundation

/// Processor time and memory.
struct Cost {
    /// Seconds of processor time, user and kernel.
    var seconds: Double
    /// Bytes in memory that are the process's own; the kernel's for its sockets are not among them.
    var memory: Double

    static let none = Cost(seconds: 0, memory: 0)

    private init(seconds: Double, memory: Double) {
        (self.seconds, self.memory) = (seconds, memory)
    }

    /// Of all its threads, those that have ended too; in hundredths of a second.
    init(of pid: Int32) {
        // The name stands in parentheses and may have spaces in it; user and system time are the 12th and 13th behind it.
        let words = Self.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        seconds = words.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +) / 100
        let resident = Self.text("/proc/\(pid)/status").firstMatch(of: #/VmRSS:\s+(\d+) kB/#)
        memory = (resident.flatMap { Double($0.1) } ?? 0) * 1_024
    }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    static func + (left: Cost, right: Cost) -> Cost {
        Cost(seconds: left.seconds + right.seconds, memory: left.memory + right.memory)
    }

    static func - (left: Cost, right: Cost) -> Cost {
        Cost(seconds: left.seconds - right.seconds, memory: left.memory - right.memory)
    }
}

/// Seconds since some moment, which never move back.
func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
