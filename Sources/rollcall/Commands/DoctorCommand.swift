import ArgumentParser
import Foundation
import Logging
import RollcallDoctor
import RollcallTerminal
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

    private func show(_ examination: Examination) throws {
        let kind = TerminalDevice.kind
        let columns = kind.canDraw ? min(TerminalDevice().size.columns, 120) : 120
        let list = CheckList(
            examination.findings.map { finding in
                CheckList.Item(finding.mark, finding.check.title, finding.found, advice: finding.advice)
            })
        for line in list.lines(columns: columns) { try Output.line(kind.painter.printing(of: line)) }
    }
}

extension Finding {
    fileprivate var mark: CheckList.Mark {
        switch verdict {
        case .ok: .ok
        case .skipped: .skipped
        case .warning: .warning
        case .failure: .failure
        }
    }
}
