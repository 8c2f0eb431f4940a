// The report as text.

extension LoadReport {
    /// The names of the times, in display order.
    private static let names = [
        ("welcome", "connect to welcome"), ("online", "connect to online"), ("away", "lost to back"),
        ("typing", "typing to eye"), ("witness", "typing beside it"), ("late", "this load's own delay"),
    ]

    /// The report as aligned lines.
    package var lines: [String] {
        [title, "", Self.row("", ["count", "p50", "p90", "p99", "p99.9", "max"]) + "  ms"]
            + Self.names.compactMap { key, name in times[key].map { Self.row(name, $0.cells) } }
            + [""] + facts.map { name, fact in Self.padded(name, to: 12) + fact }
    }

    private var title: String {
        let end = interrupted ? ", interrupted" : ""
        return "\(scenario.rawValue): \(devices) devices in \(processes == 1 ? "1 process" : "\(processes) processes")"
            + ", measured for \(decimal(seconds, 1)) s\(end)"
    }

    private var facts: [(String, String)] {
        var facts = [
            (
                "devices",
                "\(counts.present) here, \(counts.losses) lost, \(counts.failures) attempts failed, "
                    + "\(counts.expelled) sent off"
            )
        ]
        if let allBack { facts.append(("all back", "after \(decimal(allBack, 2)) s")) }
        if counts.changes > 0 {
            facts.append(("typing", "\(counts.changes) changes, seen \(counts.seen) of \(counts.expected) times"))
        }
        facts.append(("messages", "\(counts.received) came (\(counts.bytes / 1_024) KiB), \(counts.sent) went"))
        for (name, reasons) in [("goodbyes", counts.goodbyes), ("errors", counts.errors)] where !reasons.isEmpty {
            let words = reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            facts.append((name, words.joined(separator: ", ")))
        }
        facts.append(("processor", processor))
        return facts
    }

    private var processor: String {
        let own = "this load \(decimal(load.cores, 2)) of a core (\(decimal(load.seconds, 2)) s)"
        guard let workers, let workerCount else { return "\(own); workers unknown, see --admin" }
        let all = workerCount == 1 ? "1 worker" : "\(workerCount) workers"
        return "\(all) \(decimal(workers.cores, 2)) of a core (\(decimal(workers.seconds, 2)) s), \(own)"
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        padded(name, to: 22) + cells.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension LoadReport.Figures {
    fileprivate var cells: [String] {
        ["\(count)"] + [p50, p90, p99, p99_9, max].map { decimal($0, $0 < 100 ? 2 : 0) }
    }
}

/// Formats a number with this many decimal places.
func decimal(_ value: Double, _ digits: Int) -> String {
    let factor = (0..<digits).reduce(1.0) { power, _ in power * 10 }
    let whole = Int64((value * factor).rounded())
    guard digits > 0 else { return "\(whole)" }
    let part = "\(abs(whole) % Int64(factor))"
    let sign = whole < 0 ? "-" : ""
    return "\(sign)\(abs(whole) / Int64(factor)).\(String(repeating: "0", count: digits - part.count))\(part)"
}
