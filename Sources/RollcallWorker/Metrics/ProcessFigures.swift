// Metrics of the process, with the names that Prometheus client libraries use. They are read at each scrape; values
// that the system does not provide are omitted.

import RollcallShards

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

struct ProcessFigures {
    var cpuSeconds: Double?
    var residentMemory: Double?
    var openFiles: Double?
    var mostOpenFiles: Double?
    var startTime: Double?

    static var now: ProcessFigures {
        ProcessFigures(
            cpuSeconds: ProcessorTime.used.map { $0 / .seconds(1) }, residentMemory: residentBytes,
            openFiles: descriptors, mostOpenFiles: limit, startTime: start)
    }

    func write(to text: inout PrometheusText) {
        let figures: [(Metric, Double?)] = [
            (.cpuSeconds, cpuSeconds), (.mostOpenFiles, mostOpenFiles), (.openFiles, openFiles),
            (.residentMemory, residentMemory), (.startTime, startTime),
        ]
        for case (let metric, let value?) in figures {
            text.begin(metric.rawValue, metric.kind)
            text.sample(metric.rawValue, .none, value)
        }
    }

    private static var limit: Double? {
        Double(OpenFileLimit.current.rlim_cur)
    }

    /// On Linux, `/proc` has the rest.
    private static var residentBytes: Double? {
        words("/proc/self/statm").flatMap { $0.count > 1 ? Double($0[1]) : nil }.map { $0 * Double(getpagesize()) }
    }

    private static var descriptors: Double? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) }
    }

    /// The twentieth field after the program's name counts clock ticks since boot. The name itself may contain any
    /// character.
    private static let start: Double? = {
        guard let stat = contents("/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = contents("/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") })
        else { return nil }
        let fields = stat[end...].split(separator: " ").dropFirst()
        guard let ticks = fields.dropFirst(19).first.flatMap({ Double($0) }),
            let booted = boot.split(separator: " ").last.flatMap({ Double($0) })
        else { return nil }
        return booted + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func words(_ path: String) -> [Substring]? {
        contents(path)?.split { $0 == " " || $0 == "\n" }
    }

    private static func contents(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
