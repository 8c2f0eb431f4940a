import ArgumentParser
import RollcallLoad
import RollcallWorker

/// What the devices do, and how many there are.
struct LoadOptions: ParsableArguments {
    @Option(help: "The address where a worker listens for devices. May be repeated: the devices spread over all.")
    var url: [String] = []

    @Option(help: "The number of devices, each of a different user.")
    var devices = 1_000

    @Option(help: "What the devices do: \(Self.scenarios).")
    var scenario = ScenarioKind.idle

    @Option(name: .customLong("for"), help: ArgumentHelp("How long to measure.", valueName: "duration"))
    var duration = Duration.seconds(30)

    @Option(help: "storm: connections per second. By default all at once.")
    var rate: Double?

    @Option(help: "room: the number of users who type.")
    var typists = 8

    @Option(help: "chat: how many users start to type per second. By default, each does so every 30 s.")
    var bursts: Double?

    @Option(
        help: ArgumentHelp(
            "reconnect: what ends the connections after a third of the time: cut (this program), kill=PID or drain=PID (SIGKILL or SIGTERM to a local worker), or wait (you do it).",
            valueName: "cut|wait|kill=PID|drain=PID"))
    var outage = Outage.cut

    @Option(help: "The number of processes that share the devices. By default, as few as the open-file limit allows.")
    var processes: Int?

    @Option(help: "The prefix of user and conversation names. Two loads at the same time need different ones.")
    var name = "load"

    private static let scenarios = ScenarioKind.offered.map(\.rawValue).joined(separator: ", ")

    /// - Parameter most: the maximum number of devices per process.
    func check(perProcess most: Int) throws {
        guard ScenarioKind.offered.contains(scenario) else { throw ValidationError("--scenario is \(Self.scenarios)") }
        guard (1...10_000_000).contains(devices) else { throw ValidationError("--devices is from 1 to 10000000") }
        guard duration >= .milliseconds(100), duration <= .seconds(86_400) else {
            throw ValidationError("--for must be a duration from 100ms to 24h")
        }
        guard rate.map({ $0 > 0 }) ?? true, bursts.map({ $0 >= 0 }) ?? true, (1...64).contains(typists) else {
            throw ValidationError("--rate and --bursts must be above 0, and --typists from 1 to 64")
        }
        guard name.wholeMatch(of: #/[A-Za-z0-9_-]{1,32}/#) != nil else {
            throw ValidationError("--name may have up to 32 letters, digits, - and _")
        }
        guard processes.map({ (1...256).contains($0) && $0 <= devices }) ?? true else {
            throw ValidationError("--processes must be a number from 1 to 256, and at most the number of devices")
        }
        try checkFiles(most)
    }

    private func checkFiles(_ most: Int) throws {
        guard most > 0 else {
            throw ValidationError("the limit of open files is too low for any device (ulimit -n)")
        }
        let needed = (devices + most - 1) / most
        guard let processes, processes < needed else { return }
        throw ValidationError(
            "\(devices) devices in \(processes == 1 ? "1 process" : "\(processes) processes") are more than the limit "
                + "of open files allows, which is \(most) devices per process: "
                + "use --processes \(needed), or raise the limit (ulimit -n)")
    }

    /// The number of processes that carry the load.
    var count: Int {
        let most = max(1, Self.devicesPerProcess())
        return processes ?? max(1, (devices + most - 1) / most)
    }

    /// The maximum number of devices per process. Each device needs an open file, and the process some for itself.
    static func devicesPerProcess() -> Int { max(0, OpenFileLimit.raise() - 100) }

    /// Returns the plan of one process: `0/2` is the first of two that share the devices, `witness` is the additional
    /// one.
    func plan(part: String) -> Plan? {
        let numbers = part.split(separator: "/").compactMap { Int($0) }
        guard part == "witness" || numbers.count == 2 && (0..<numbers[1]).contains(numbers[0]) else { return nil }
        guard part != "witness" else {
            var plan = Plan(.witness, devices: Self.witnesses, duration: duration + .seconds(60))
            plan.name = "\(name)-witness"
            return plan
        }
        var plan = Plan(scenario, devices: devices, part: numbers[0], of: numbers[1], duration: duration)
        (plan.name, plan.typists) = (name, typists)
        plan.rate = rate.map { $0 / Double(numbers[1]) }
        plan.bursts = (bursts ?? Double(devices) / 30) / Double(numbers[1])
        plan.cuts = outage == .cut
        return plan
    }

    /// Five pairs, with about 18 changes per second in total: negligible beside any load.
    private static let witnesses = 10
}

extension ScenarioKind: ExpressibleByArgument {
    /// The witness accompanies every scenario, and cannot be chosen itself.
    static let offered = allCases.filter { $0 != .witness }

    public static var allValueStrings: [String] { offered.map(\.rawValue) }
}

/// What ends the connections in the scenario `reconnect`.
enum Outage: Hashable, ExpressibleByArgument {
    case cut
    case wait
    case kill(Int32)
    case drain(Int32)

    init?(argument: String) {
        let words = argument.split(separator: "=", maxSplits: 1)
        let pid = words.count == 2 ? Int32(words[1]).flatMap { $0 > 1 ? $0 : nil } : nil
        switch (words.first, pid) {
        case ("cut", nil) where words.count == 1: self = .cut
        case ("wait", nil) where words.count == 1: self = .wait
        case ("kill", let pid?): self = .kill(pid)
        case ("drain", let pid?): self = .drain(pid)
        default: return nil
        }
    }

    var defaultValueDescription: String { "cut" }
}
