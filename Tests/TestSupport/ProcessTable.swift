// The processes that run on this machine.

internal import Foundation

/// The system's process table.
public enum ProcessTable {
    /// Returns whether a process runs. A zombie does not count.
    public static func runs(_ pid: Int32) -> Bool {
        if let status = status(of: pid) { return status.state != "Z" }
        return kill(pid, 0) == 0
    }

    /// Returns the running children of a process.
    public static func children(of parent: Int32) -> Set<Int32> {
        #if canImport(Darwin)
            var pids = [pid_t](repeating: 0, count: 256)
            _ = proc_listchildpids(parent, &pids, Int32(pids.count * MemoryLayout<pid_t>.stride))
            return Set(pids.filter { $0 > 0 })
        #else
            let pids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
            return Set(pids.filter { status(of: $0)?.parent == parent && runs($0) })
        #endif
    }

    /// Reads `/proc` on Linux. The program's name comes first, in parentheses, and may itself contain parentheses.
    private static func status(of pid: Int32) -> (state: Substring, parent: Int32)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 1,
            let parent = Int32(fields[1])
        else { return nil }
        return (fields[0], parent)
    }
}
