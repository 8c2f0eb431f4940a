// An entry of `edge.origins`, in the form in which browsers send origins (RFC 6454 §6.2, WHATWG URL).

internal import Foundation
internal import NIOCore
internal import RollcallProtocol

/// `SCHEME://HOST[:PORT]`, of any scheme. A host that begins with `*.` stands for all hosts below that domain.
package struct OriginPattern: Sendable {
    private let head: ByteString
    /// The host and port; of a pattern, what follows the star.
    private let tail: ByteString
    private let isPattern: Bool

    /// The ports that browsers leave out.
    private static let usualPorts = ["http": 80, "ws": 80, "https": 443, "wss": 443]

    /// - Throws: for what no page's origin can equal, with the reason.
    package init(_ text: String) throws(InvalidOrigin) {
        let text = text.lowercased()
        guard text != "null", !text.hasPrefix("file:") else {
            throw InvalidOrigin("pages of files and sandboxed frames send null, as any page can: only * allows them")
        }
        guard let (scheme, place) = Self.parts(of: text) else {
            throw InvalidOrigin(
                "it must be like https://example.org, capacitor://localhost or https://*.example.org, or *")
        }
        isPattern = place.hasPrefix("*.")
        let rest = isPattern ? String(place.dropFirst(2)) : place
        guard !rest.contains("*") else {
            throw InvalidOrigin("a * stands for what precedes a domain, as in https://*.example.org")
        }
        guard !rest.contains(where: { "/?#@%\\".contains($0) || $0.isWhitespace }),
            let parts = URLComponents(string: "\(scheme)://\(rest)"),
            let host = parts.encodedHost.flatMap(Self.asSent),
            parts.port.map({ (1...65_535).contains($0) }) ?? !rest.hasSuffix(":")
        else { throw InvalidOrigin("it must have a scheme, a host and a port only, without a path") }
        let port = parts.port.flatMap { $0 == Self.usualPorts[scheme] ? nil : ":\($0)" } ?? ""
        head = ByteString("\(scheme)://")
        tail = ByteString((isPattern ? "." : "") + host + port)
    }

    /// - Parameter origin: a header in lower case.
    func matches(_ origin: ByteString) -> Bool {
        let length = origin.utf8.count - head.utf8.count - tail.utf8.count
        guard isPattern ? length > 0 : length == 0, origin.utf8.starts(with: head.utf8) else { return false }
        let rest = origin.utf8.dropFirst(head.utf8.count)
        return rest.dropFirst(length).elementsEqual(tail.utf8) && rest.prefix(length).allSatisfy(Self.isOfName)
    }

    private static func parts(of text: String) -> (scheme: String, place: String)? {
        guard let mark = text.firstRange(of: "://"), mark.upperBound < text.endIndex else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard scheme.utf8.first.map({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }) ?? false,
            scheme.utf8.allSatisfy({ isOfName($0) || $0 == UInt8(ascii: "+") })
        else { return nil }
        return (String(scheme), String(text[mark.upperBound...]))
    }

    /// A host as browsers write it; `nil` for a number that they would read as an address.
    private static func asSent(_ host: String) -> String? {
        if host.hasPrefix("[") {
            return (try? SocketAddress(ipAddress: String(host.dropFirst().dropLast()), port: 0))?.ipAddress
                .map { "[\($0)]" }
        }
        let isNumber = host.split(separator: ".").last?.utf8.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !host.isEmpty, host.utf8.allSatisfy(isOfName) else { return nil }
        return isNumber == true && (try? SocketAddress(ipAddress: host, port: 0)) == nil ? nil : host
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || "-._".utf8.contains(byte)
    }
}

/// Why a text is not an origin.
package struct InvalidOrigin: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
