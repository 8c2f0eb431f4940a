// A log of what happened, for people.

/// The log of one run, one line for each event. It is kept only on request, since writing it takes longer than the run
/// itself.
final class Trace {
    private(set) var lines: [String] = []
    private let isKept: Bool
    private let agenda: Agenda

    init(isKept: Bool, agenda: Agenda) {
        self.isKept = isKept
        self.agenda = agenda
    }

    /// - Parameter who: what the line is about: a worker, a device, Redis.
    func note(_ who: @autoclosure () -> String, _ what: @autoclosure () -> String) {
        guard isKept else { return }
        let name = who()
        let line = "\(agenda.now.text)  \(name)\(String(repeating: " ", count: max(1, 16 - name.count)))\(what())"
        lines.append(line.spelledOut)
    }
}
