// Recognises files that are not secrets. A public key in the place of a secret would let anybody sign: who knows it (everybody)
// signs with its bytes.

import Foundation
import RollcallProtocol

/// What a file is that was named as a secret, and is none.
enum MisplacedKey: String {
    case pem = "a key or certificate (PEM)"
    case der = "a key or certificate (DER)"
    case json = "JSON: a key set, a key, or the file of an account"
    case token = "a token"
    case ssh = "a key for SSH"
    case webhook = "a webhook's secret"

    /// Why the file cannot be a secret.
    var sentence: String {
        "this is no secret but \(rawValue), and whoever knows it could sign tokens. \(advice)"
    }

    private var advice: String {
        switch self {
        case .pem, .der, .ssh: "Public keys go into a key set, auth.jwks_file"
        case .json: "A key set goes into auth.jwks_file"
        case .token: "A token is what the secret signs"
        case .webhook: "That belongs to events.webhook.secret_file"
        }
    }

    /// - Returns: `nil` if the bytes can be a secret.
    init?(in bytes: some Collection<UInt8>) {
        // Editors may write UTF-16, in which every second byte of ASCII is zero.
        let plain = Array(bytes).filter { $0 != 0 }
        guard let kind = Self.kind(of: plain) ?? Self.kind(of: Array(bytes)) ?? Self.kindDecoded(from: plain) else {
            return nil
        }
        self = kind
    }

    private static func kindDecoded(from text: [UInt8]) -> MisplacedKey? {
        let text = text.filter { !$0.isWhiteSpace }
        return (Data(base64Encoded: Data(text)) ?? Base64URL.decoded(text)).flatMap { kind(of: Array($0)) }
            ?? bytes(ofHex: text).flatMap(kind)
    }

    private static func kind(of bytes: [UInt8]) -> MisplacedKey? {
        let text = ByteString(decoding: bytes.drop { $0.isWhiteSpace || $0 >= 0x80 })
        if text.firstBytes(of: "-----BEGIN") != nil { return .pem }
        if isDER(bytes) { return .der }
        if text.begins(with: "{") || text.begins(with: "["),
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
        {
            return .json
        }
        if text.begins(with: "whsec_") { return .webhook }
        if text.begins(with: "ssh-") || text.begins(with: "ecdsa-sha2-") || text.begins(with: "sk-ssh-") { return .ssh }
        let words = text.utf8.filter { !$0.isWhiteSpace }
        return (try? SignedToken(ByteString(decoding: words))) == nil ? nil : .token
    }

    /// Whether this is one ASN.1 sequence that begins as keys and certificates do: with a number, a sequence, or a name.
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 8, bytes[0] == 0x30 else { return false }
        let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard lengthBytes <= 3 else { return false }
        let length = lengthBytes == 0 ? Int(bytes[1]) : bytes[2..<2 + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
        return 2 + lengthBytes + length == bytes.count && [0x02, 0x30, 0x06].contains(bytes[2 + lengthBytes])
    }

    private static func bytes(ofHex text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: text.count, by: 2) {
            guard let high = text[place].hexDigit, let low = text[place + 1].hexDigit else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
