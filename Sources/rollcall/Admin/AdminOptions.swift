import ArgumentParser
import Foundation

/// How an operator's command reaches a worker's admin port.
struct AdminOptions: ParsableArguments {
    static let usual = "http://127.0.0.1:8081"

    @Option(help: "A worker's admin port; its ready line names it. Any worker knows of all.")
    var admin = Self.usual

    @Option(help: "The file with the token that the admin port asks for (admin.token_file).", completion: .file())
    var tokenFile: String?

    func validate() throws {
        guard AdminAddress(admin) != nil else {
            throw ValidationError("--admin \(admin) is no address such as http://127.0.0.1:8081")
        }
    }

    /// The port, to be asked.
    func port() throws -> AdminPort {
        guard let address = AdminAddress(admin) else { throw ValidationError("--admin \(admin) is no address") }
        return AdminPort(address: address, token: try token())
    }

    private func token() throws -> String? {
        guard let tokenFile else { return nil }
        guard let text = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
            throw ValidationError("the token file \(tokenFile) cannot be read")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// Where an admin port is: `http://HOST:PORT`.
struct AdminAddress: CustomStringConvertible {
    let host: String
    let port: Int

    init?(_ url: String) {
        guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host, !host.isEmpty,
            ["", "/"].contains(parts.path)
        else { return nil }
        // An address of IPv6 stands in brackets, and is connected to without.
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port ?? 80
    }

    /// What the header `Host` says.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    var description: String { "http://\(authority)" }
}
