// The processor time and memory of a process, as counted by Linux.

import Foundation

/// Processor time and memory.
struct Cost {
    /// Processor time in seconds, user and kernel.
    var seconds: Double
    /// Resident memory of the process in bytes, without the kernel's memory for its sockets.
    var memory: Double

    static let none = Cost(seconds: 0, memory: 0)

    private init(seconds: Double, memory: Double) {
        (self.seconds, self.memory) = (seconds, memory)
    }

    /// Reads the cost of a process, including ended threads. Processor time has a resolution of 10 ms.
    init(of pid: Int32) {
        // The name is in parentheses and may contain spaces. User and system time are the 12th and 13th words after it.
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

/// The time on a monotonic clock, in seconds.
func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
