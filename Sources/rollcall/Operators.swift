// The operators' commands: explain, workers, send-away and erase. They ask the admin port of any worker.

import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RollcallProtocol
import RollcallWorker

/// How an operator's command reaches a worker's admin port.
struct AdminOptions: ParsableArguments {
    @Option(help: "A worker's admin port, as in its ready line. Any worker reports on all.")
    var admin = "http://127.0.0.1:8081"

    @Option(
        help:
            "A file with the token of admin.token_file, or for explain and workers of admin.read_token_file, or - for standard input. The default is ROLLCALL_OPERATOR_TOKEN.",
        completion: .file())
    var tokenFile: String?

    @Option(help: "For https, the trusted CA certificates (PEM), instead of the system's.", completion: .file())
    var authority: String?

    @Option(
        help:
            "For https, the client certificate chain (PEM), if admin.client_authority requires it; with --private-key.",
        completion: .file())
    var certificate: String?

    @Option(help: "The private key (PEM) of --certificate.", completion: .file())
    var privateKey: String?

    @Flag(help: "Allow http:// to another machine, although others on the network can read the token.")
    var insecure = false

    private var address: HTTPAddress? { HTTPAddress(admin).flatMap { $0.uri == "/" ? $0 : nil } }

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key must be given together")
        }
        guard let address else {
            throw ValidationError("--admin \(admin) is not an address such as http://127.0.0.1:8081")
        }
        guard insecure || address.isSecure || Loopback.contains(address.host) else {
            throw ValidationError(
                "\(address) would send the token unencrypted to another machine: use https://, or --insecure")
        }
        let option = authority != nil ? "--authority" : certificate != nil ? "--certificate" : nil
        if let option, !address.isSecure {
            throw ValidationError("\(option) needs an https:// address, but --admin is \(address)")
        }
    }

    /// Sends a request, and decodes the answer.
    ///
    /// - Throws: the exit code, after the reason was logged.
    func ask<Answer: Decodable>(_ method: HTTPMethod, _ path: String..., query: [(String, String)] = []) async throws
        -> Answer
    {
        try JSONDecoder().decode(Answer.self, from: Data(try await send(method, path, query).readableBytesView))
    }

    func send(_ method: HTTPMethod, _ path: [String], _ query: [(String, String)]) async throws -> ByteBuffer {
        guard let address else { throw ValidationError("--admin \(admin) is not an address") }
        let token = try TokenInput.token(file: tokenFile, variable: "ROLLCALL_OPERATOR_TOKEN")
        let client = HTTPClient(address, tls: try address.isSecure ? context() : nil)
        let fields = query.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        let answer: HTTPClient.Answer
        do {
            answer = try await client.send(
                method, "/v1/" + path.map(Self.encoded).joined(separator: "/") + (fields.isEmpty ? "" : "?\(fields)"),
                headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:])
        } catch {
            Output.log("no worker answers at \(address): \(Shown.text(Self.reason(error, address)))")
            Output.log(
                "Name another with --admin URL. A worker's ready line has the address of its admin port (admin=…).")
            throw ExitCode.cannotServe
        }
        guard (200..<300).contains(answer.status.code) else { throw refused(answer, at: address, token) }
        return answer.body
    }

    private func refused(_ answer: HTTPClient.Answer, at address: HTTPAddress, _ token: String?) -> ExitCode {
        struct Problem: Decodable {
            var detail: String
        }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body.readableBytesView))
        Output.log("\(address): \(Shown.text(problem?.detail ?? "\(answer.status)"))")
        if answer.status == .unauthorized {
            Output.log(
                token != nil
                    ? "The token of --token-file is not the one in the worker's admin.token_file."
                    : "Use --token-file FILE with the token of the worker's admin.token_file.")
        }
        return answer.status == .serviceUnavailable ? .cannotServe : .failure
    }

    private static func reason(_ error: any Error, _ address: HTTPAddress) -> String {
        switch error {
        case is HTTPClient.Failure:
            "it does not answer like an admin port"
                + (address.isSecure ? "" : " (if it uses TLS, the address must begin with https://)")
        default: TLSReason.sentence(error) ?? NetworkFailure.sentence(error)
        }
    }

    private func context() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authority {
            guard (try? NIOSSLCertificate.fromPEMFile(authority))?.isEmpty == false else {
                throw ValidationError("--authority \(authority) has no certificate (PEM)")
            }
            tls.trustRoots = .file(authority)
        }
        if let certificate, let privateKey {
            guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), !chain.isEmpty else {
                throw ValidationError("--certificate \(certificate) has no certificate (PEM)")
            }
            guard let key = try? NIOSSLPrivateKey(file: privateKey, format: .pem) else {
                throw ValidationError("--private-key \(privateKey) has no private key (PEM), or one with a passphrase")
            }
            (tls.certificateChain, tls.privateKey) = (chain.map { .certificate($0) }, .privateKey(key))
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw ValidationError(
                privateKey.map { "--private-key \($0) does not match the first certificate in --certificate" }
                    ?? "TLS cannot be set up: \(error)")
        }
    }

    /// Percent-encodes every byte except letters, digits and `-`, `_`, `~`.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(Unicode.Scalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}

/// `rollcall explain`: explains why a user has a status.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain a user's presence: each device, its worker, its lease, and the rule that decided.")

    @Argument(help: "The user.")
    var user: UserID

    @Option(
        name: .customLong("in"),
        help: "Explain instead whether the user may join this conversation; with --as, a conversation of both.")
    var conversation: ConversationID?

    @Option(name: .customLong("as"), help: "Explain also how much this other user sees, and why.")
    var viewer: UserID?

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func run() async throws {
        if let conversation, viewer == nil {
            let access: AdminAccess = try await admin.ask(.GET, "conversations", conversation.text, "access", user.text)
            if json { return try Output.json(access) }
            for line in access.lines { try Output.line(Shown.text(line)) }
            return
        }
        let query = viewer.map { viewer in
            [("as", viewer.text)] + (conversation.map { [("in", $0.text)] } ?? [])
        }
        let answer: AdminUser = try await admin.ask(.GET, "users", user.text, query: query ?? [])
        if json { return try Output.json(answer) }
        for line in answer.lines { try Output.line(line) }
    }
}

/// `rollcall workers`: lists all workers once.
struct Workers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List all workers, including dead ones that are not swept yet.")

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func run() async throws {
        let answer: AdminWorkers = try await admin.ask(.GET, "workers")
        if json { return try Output.json(answer) }
        for line in Columns.lines(answer.workers.map { $0.cells(at: answer.time) }) { try Output.line(line) }
    }
}

/// `rollcall send-away`: ends sessions on any worker.
struct SendAway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-away",
        abstract: "End a user's sessions, or one device's, on all workers (close code 4106).",
        discussion: """
            Clients that follow the protocol do not reconnect automatically. --revoke also stops those that do not.
            """)

    @Argument(help: "The user whose sessions to end.")
    var user: UserID

    @Option(help: "The device whose session to end; by default all.")
    var device: DeviceID?

    @Flag(help: "Also revoke all tokens issued for the user until now.")
    var revoke = false

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        if revoke, device != nil { throw ValidationError("tokens are revoked for all devices: remove --device") }
    }

    func run() async throws {
        let away: SentAway =
            if revoke {
                try await admin.ask(.POST, "users", user.text, "revoke")
            } else {
                try await admin.ask(
                    .DELETE, "users", user.text, "sessions", query: device.map { [("device", $0.text)] } ?? [])
            }
        if json {
            try Output.json(Answer(away: away, revoked: revoke))
        } else {
            for line in lines(away) { try Output.line(Shown.text(line)) }
        }
        if !away.unreached.isEmpty { throw ExitCode.failure }
    }

    private struct Answer: Encodable {
        let away: SentAway
        let revoked: Bool

        private enum Keys: String, CodingKey { case revoked }

        func encode(to encoder: any Encoder) throws {
            try away.encode(to: encoder)
            var fields = encoder.container(keyedBy: Keys.self)
            try fields.encode(revoked, forKey: .revoked)
        }
    }

    private func lines(_ away: SentAway) -> [String] {
        let revoked = revoke ? ["the tokens issued for \(user) until now are revoked"] : []
        if away.sentAway.isEmpty, away.unreached.isEmpty { return revoked + ["\(user) has no session"] }
        return revoked + away.sentAway.map { "\(user)'s session on \($0) has ended" }
            + away.unreached.map { "\(user)'s session on \($0) was not reached: see rollcall explain \(user)" }
    }
}

/// `rollcall erase`: erases a user.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Revoke a user's tokens, end their sessions, and erase their other data from Redis.",
        discussion: """
            Asks for confirmation. Rollcall has no list of a user's conversations: name those with them as a member.
            """)

    @Argument(help: "The user to erase.")
    var user: UserID

    @Option(name: [.customShort("c"), .long], help: "A conversation of which the user is a member. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        guard yes || isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("erasing is permanent, and there is no terminal for confirmation: use --yes")
        }
    }

    func run() async throws {
        guard yes || isConfirmed() else {
            Output.log("Nothing was erased.")
            throw ExitCode.failure
        }
        _ = try await admin.send(.DELETE, ["users", user.text], conversation.map { ("conversation", $0.text) })
        try Output.line(
            Shown.text(
                "\(user) was erased. Where events are on, the newest one about \(user) stays until events.keep others have come"
            ))
    }

    private func isConfirmed() -> Bool {
        Output.log(Shown.text("Erase all data of \(user), and end their sessions? [y/N]"))
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

// MARK: The answers as text

extension AdminWorker {
    /// The state of the worker's lease.
    fileprivate func lease(at time: Timestamp) -> String {
        guard let leaseEnd else { return "swept and deleted" }
        if alive { return "\(draining ? "draining, " : "")lease ends in \(leaseEnd.since(time).spoken)" }
        return "lease passed \(time.since(leaseEnd).spoken) ago"
    }

    /// Where the worker runs.
    fileprivate var place: String {
        [host?.string, pid.map { "pid \($0)" }, edge?.string].compactMap { $0 }.joined(separator: ", ")
    }

    fileprivate func cells(at time: Timestamp) -> [String] {
        [
            incarnation.string, alive ? "alive" : "dead", lease(at: time),
            sessions.map { $0 == 1 ? "1 session" : "\($0) sessions" } ?? "",
            startedAt.map { "up \(time.since($0).spoken)" } ?? "", version.map { "version \($0)" } ?? "", place,
        ]
    }
}

extension AdminUser {
    fileprivate var lines: [String] {
        var facts = [
            ["shown", presence.status.rawValue], ["stored", stored?.string ?? "no record"], ["last seen", seen],
            ["version", "\(presence.version)"], ["rule", rule.code],
        ]
        if let revoked { facts.append(["tokens", "revoked \(time.since(revoked).spoken) ago"]) }
        facts += devices.flatMap { device in device.open.map { ["open", "\($0) on \(device.device)"] } }
        facts += shown.map { ["open", "\($0), says a server"] }
        let devices = Columns.lines(devices.map { $0.cells(at: time) }).map { "  " + $0 }
        let sight = viewer.map { [Shown.text($0.text)] } ?? []
        return [Shown.text("\(presence.user) is \(rule.text)")] + sight + [""] + devices + (devices.isEmpty ? [] : [""])
            + Columns.lines(facts).map { "  " + $0 }
    }

    private var seen: String {
        if presence.status != .offline { return "now" }
        return presence.lastSeen.map { "\(time.since($0).spoken) ago" } ?? "never"
    }
}

extension AdminUser.Device {
    fileprivate func cells(at time: Timestamp) -> [String] {
        let standing =
            switch standing {
            case "in_grace": "in grace, lost \(lost.map { time.since($0).spoken } ?? "some time") ago"
            case "owner_dead": "its worker is dead"
            case "unsettled": "its worker may be dead"
            case "gone": ""
            default: standing
            }
        return [device.text, state, standing, "since \(time.since(since).spoken)", worker.incarnation.string]
            + (state == "gone" ? [] : [worker.lease(at: time), worker.place])
    }
}
