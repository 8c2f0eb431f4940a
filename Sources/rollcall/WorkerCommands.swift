// The commands that take a worker's configuration: worker, token and doctor.

import ArgumentParser
import Foundation
import Logging
import RollcallProtocol
import RollcallWorker
import ServiceLifecycle
import Spawning
import UnixSignals

/// The sources of a worker's configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "A configuration file like Config/worker.yaml.", completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Override a key of the file and the environment, such as redis.url=redis://10.0.0.7. May be repeated.",
            valueName: "key=value"))
    var overrides: [Override] = []

    /// A key and its value, as given to `--set`.
    struct Override: ExpressibleByArgument {
        let key: String
        let value: String

        init?(argument: String) {
            guard let (key, value) = ByteString(argument).cut(at: "="), !key.isEmpty else { return nil }
            (self.key, self.value) = (key.string, value.string)
        }
    }

    func validate() throws {
        if overrides.contains(where: { $0.key == "redis.url" && WorkerConfiguration.hasPassword(redisURL: $0.value) }) {
            throw ValidationError(
                "--set redis.url has a password, which every user of this machine can read in the list of processes: "
                    + "write it to the file of redis.password_file, or set ROLLCALL_REDIS_URL or the configuration file"
            )
        }
    }

    /// The configuration file, if one is given.
    var file: URL? { config.map { URL(fileURLWithPath: $0) } }

    /// The overrides by key. If a key is given twice, the last value is used.
    var texts: [String: String] { Dictionary(overrides.map { ($0.key, $0.value) }) { _, last in last } }

    /// Reads and checks the configuration, and logs each problem to standard error.
    ///
    /// - Throws: the exit code for a wrong configuration.
    func load(adding more: [String: String] = [:]) throws(ExitCode) -> WorkerConfiguration {
        do {
            return try WorkerConfiguration.load(file: file, overrides: texts.merging(more) { $1 })
        } catch {
            throw Self.refused(error)
        }
    }

    static func refused(_ problems: ConfigurationProblems) -> ExitCode {
        for problem in problems.problems { Output.log("configuration: \(problem)") }
        return .wrongConfiguration
    }
}

/// `rollcall worker`: runs a worker until it is stopped.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker, which devices connect to and which keeps their presence and typing in Redis.",
        discussion: """
            Prints one line to standard output when it is ready. SIGTERM, SIGINT and SIGHUP drain it: it sends its \
            devices to other workers, then exits. Exit codes: 0 after a graceful shutdown, 64 for wrong usage, 69 if it cannot \
            serve (a port is taken, or Redis does not answer), 78 for a wrong configuration.
            """)

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    /// A worker of `rollcall dev` ends at once with its parent: without that, its Redis is gone too.
    @Flag(help: .hidden)
    var exitOnStdinEnd = false

    func run() async throws {
        if exitOnStdinEnd { DescriptorReader.read(.standardInput, bytes: { _ in true }, end: { Foundation.exit(0) }) }
        let configuration = try options.load()
        WorkerLog.bootstrap(configuration.log)
        let worker = Worker(configuration, metrics: .bootstrap()) { ready in
            try? Output.line("\(ready)")
            ServiceNotice.ready(status: "\(ready)").send()
        } onDrain: {
            ServiceNotice.stopping.send()
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: worker, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint] + Interruptible.hangup,
                logger: Logger(label: "rollcall.lifecycle") { _ in SwiftLogNoOpLogHandler() }))
        do {
            try await group.run()
        } catch let error as CannotServe {
            Output.log("worker: \(error)")
            throw ExitCode.cannotServe
        } catch let problems as ConfigurationProblems {
            throw ConfigurationOptions.refused(problems)
        }
    }
}

/// `rollcall token`: signs a token that the workers of this configuration accept.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign a token for a user, with the secret of the workers.",
        discussion: "The secret, the issuer and the audience come from the configuration: auth.secret_file, …")

    @Argument(help: "The user of the token.")
    var user: UserID

    @Option(help: "The only device that may use it. By default, the client names its device.")
    var device: DeviceID?

    @Option(help: "The user's name for people, which others are shown.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A conversation without members that it opens, or all whose names begin alike: '*', 'team7:*'. Repeatable.",
            valueName: "name"))
    var join: [String] = []

    @Option(
        help: ArgumentHelp(
            "A user whom it lets the user ask about, or all whose names begin alike: '*', 'acme/*'. Repeatable.",
            valueName: "name"))
    var watch: [String] = []

    @Option(help: ArgumentHelp("How long it is valid.", valueName: "duration"))
    var lifetime = Duration.seconds(3600)

    @Option(help: "A file with the secret; the same as --set auth.secret_file=…", completion: .file())
    var secretFile: String?

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.load(adding: secretFile.map { ["auth.secret_file": $0] } ?? [:])
        do {
            let minter = try TokenMinter(configuration.auth)
            let token = try minter.token(
                for: user, device: device, name: name, join: right(join, "--join"), watch: right(watch, "--watch"),
                lifetime: lifetime)
            try Output.line(token)
        } catch let problems as ConfigurationProblems {
            throw ConfigurationOptions.refused(problems)
        }
    }

    private func right<Kind>(_ names: [String], _ option: String) throws -> NameRight<Kind>? {
        do {
            return try names.isEmpty ? nil : NameRight(entries: names.map(ByteString.init))
        } catch {
            throw ValidationError("\(option): \(error)")
        }
    }
}

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

    @Option(
        help: ArgumentHelp(
            "Check rollcall@NAME of systemd, as root: with /etc/rollcall/worker.yaml, NAME.env and the unit's secrets.",
            valueName: "name"))
    var instance: String?

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    func run() async throws {
        let quiet = Logger(label: "rollcall.doctor") { _ in SwiftLogNoOpLogHandler() }
        let unit = instance.map(InstalledUnit.init)
        let examination = await Doctor.examine(
            file: options.file ?? unit?.file, environment: unit?.environment ?? ProcessInfo.processInfo.environment,
            overrides: options.texts, logger: quiet)
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

/// A notification for the service manager, as described in `sd_notify(3)`.
enum ServiceNotice {
    /// Devices can connect. `systemctl status` shows `status`.
    case ready(status: String)
    /// No more devices are accepted, and the process will end.
    case stopping

    var text: String {
        switch self {
        case .ready(let status): "READY=1\nSTATUS=\(status)"
        case .stopping: "STOPPING=1\nSTATUS=draining"
        }
    }

    /// Sends the notification if there is a socket. Errors are ignored: they are no reason not to serve devices.
    func send() {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], let address = Self.address(path) else {
            return
        }
        #if os(Linux)
            let kind = Int32(SOCK_DGRAM.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, 0, $0, Self.length(path))
            }
        }
    }

    /// Returns the socket's address: a path or, after `@`, a name in Linux's abstract namespace.
    private static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard let first = name.first, name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        switch first {
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): break
        default: return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        return address
    }

    /// Returns the length of the address. An abstract name has no terminating zero.
    private static func length(_ path: String) -> socklen_t {
        let before = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return socklen_t(before + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
    }
}

/// A worker as `make install` has systemd start it.
struct InstalledUnit {
    private static let folder = "/etc/rollcall"

    let name: String
    let file = URL(filePath: "\(Self.folder)/worker.yaml")

    init(_ name: String) { self.name = name }

    /// The variables of the unit, and then those of the instance's own file, as systemd sets them. The copies of secrets are
    /// there while it runs only; this names the originals.
    var environment: [String: String] {
        let own = (try? String(contentsOfFile: "\(Self.folder)/\(name).env", encoding: .utf8)) ?? ""
        let lines = unitVariables + own.split(whereSeparator: \.isNewline).map(String.init)
        var environment: [String: String] = [:]
        for line in lines where line.first != "#" {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"' "))
            environment[parts[0].trimmingCharacters(in: .whitespaces)] = value.replacing(
                "/run/credentials/rollcall@\(name).service", with: "\(Self.folder)/secrets")
        }
        return environment
    }

    /// What `systemctl` knows of it, drop-ins included; without it, what the unit says as it is shipped.
    private var unitVariables: [String] {
        let systemctl = Process()
        systemctl.executableURL = URL(filePath: "/usr/bin/env")
        systemctl.arguments = ["systemctl", "show", "--property=Environment", "--value", "rollcall@\(name).service"]
        let output = Pipe()
        (systemctl.standardOutput, systemctl.standardError) = (output, FileHandle.nullDevice)
        guard (try? systemctl.run()) != nil else { return Self.shipped }
        let text = String(decoding: (try? output.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
        systemctl.waitUntilExit()
        let variables = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return variables.isEmpty ? Self.shipped : variables
    }

    private static let shipped = [
        "ROLLCALL_AUTH_SECRET_FILE=\(folder)/secrets/jwt_secret",
        "ROLLCALL_ADMIN_TOKEN_FILE=\(folder)/secrets/admin_token",
    ]
}
