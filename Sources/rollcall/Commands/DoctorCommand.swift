import ArgumentParser
import Foundation
import Logging
import RollcallWorker

/// `rollcall doctor`: checks a configuration, its Redis and this host.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check a configuration, its Redis and this host, and advise what to do.",
        discussion: """
            Takes the same configuration as `rollcall worker`. It only reads, so it can run beside workers. Checks for \
            which the Redis user lacks a right are skipped, and the right is named. Exit codes: 0 if no check fails \
            (there may be warnings), 1 if one does, 64 for wrong usage, 69 if Redis does not answer or refuses the \
            login, 78 for a wrong configuration.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    func run() async throws {
        let quiet = Logger(label: "rollcall.doctor") { _ in SwiftLogNoOpLogHandler() }
        let examination = await Doctor.examine(file: options.file, overrides: options.texts, logger: quiet)
        if json { try Output.json(examination) } else { try show(examination) }
        switch examination.outcome {
        case .fine: break
        case .failures: throw ExitCode.failure
        case .wrongConfiguration: throw ExitCode.wrongConfiguration
        case .noRedis: throw ExitCode.cannotServe
        }
    }

    /// The longest line of a finding, without what stands before it.
    private static let width = 90

    /// Prints the findings in columns, with the advice below each, and a last line with the counts.
    private func show(_ examination: Examination) throws {
        let titles = examination.findings.map(\.check.title.count).max() ?? 0
        for finding in examination.findings {
            var head = [(finding.verdict.rawValue, 7), (finding.check.title, titles)].map { text, width in
                text + String(repeating: " ", count: max(0, width - text.count) + 2)
            }.joined()
            let told = Self.wrapped(finding.found) + (finding.advice.map { Self.wrapped("→ " + $0) } ?? [])
            for line in told {
                try Output.line(head + line)
                head = String(repeating: " ", count: head.count)
            }
        }
        let counts = [Finding.Verdict.failure, .warning, .skipped, .ok].compactMap { verdict -> String? in
            let count = examination.findings.count { $0.verdict == verdict }
            let isPlural = count > 1 && (verdict == .failure || verdict == .warning)
            return count == 0 ? nil : "\(count) \(verdict.rawValue)\(isPlural ? "s" : "")"
        }
        try Output.line("\n" + counts.joined(separator: ", "))
    }

    private static func wrapped(_ text: String) -> [String] {
        Shown.text(text).split(separator: " ").reduce(into: []) { lines, word in
            if let line = lines.last, line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
