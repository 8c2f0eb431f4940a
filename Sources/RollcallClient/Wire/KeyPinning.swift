// Pinned keys: besides a valid certificate, a server must have one of the public keys that the app lists. So a certificate
// that an authority issued to an attacker is of no use.

import NIOCore
import NIOSSL
import NIOTLS

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A public key that a server may have.
///
/// It stays the same when a certificate is renewed with the same key.
public struct KeyPin: Hashable, Sendable {
    /// The SubjectPublicKeyInfo in DER (RFC 5280).
    let key: [UInt8]

    /// - Parameter pem: the public key in PEM, as `openssl pkey -in privkey.pem -pubout` prints it. Without the lines
    ///   `-----BEGIN PUBLIC KEY-----` and `-----END PUBLIC KEY-----`, its base64 is enough. Anything else gives `nil`.
    public init?(pem: String) {
        var text = pem.filter { !$0.isWhitespace }
        let (begin, end) = ("-----BEGINPUBLICKEY-----", "-----ENDPUBLICKEY-----")
        if text.hasPrefix(begin), text.hasSuffix(end) {
            text = String(text.dropFirst(begin.count).dropLast(end.count))
        }
        guard let key = Data(base64Encoded: text).map(Array.init), Self.isPublicKey(key) else { return nil }
        self.key = key
    }

    /// Whether this is a SubjectPublicKeyInfo: a sequence of an algorithm, which begins with an object identifier, and
    /// of the key as a bit string. Certificates and private keys begin in another way.
    private static func isPublicKey(_ der: [UInt8]) -> Bool {
        guard let whole = element(0x30, in: der[...]), whole.rest.isEmpty,
            let algorithm = element(0x30, in: whole.content), element(0x06, in: algorithm.content) != nil,
            let key = element(0x03, in: algorithm.rest)
        else { return false }
        return key.rest.isEmpty && !key.content.isEmpty
    }

    /// Reads a DER element.
    ///
    /// - Returns: its content and what follows it; `nil` if another tag comes first, or if the length is wrong.
    private static func element(
        _ tag: UInt8, in der: ArraySlice<UInt8>
    ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard der.first == tag, let first = der.dropFirst().first else { return nil }
        var (length, rest) = (Int(first), der.dropFirst(2))
        // Lengths from 128 on take one or two bytes more; no public key needs three.
        if length >= 0x80 {
            let size = length - 0x80
            guard size == 1 || size == 2, rest.count >= size else { return nil }
            length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(size)
        }
        guard rest.count >= length else { return nil }
        return (rest.prefix(length), rest.dropFirst(length))
    }

    /// The key in a certificate.
    init(_ certificate: NIOSSLCertificate) throws {
        key = try certificate.extractPublicKey().toSPKIBytes()
    }
}

/// The server's certificate is valid, but its key is not pinned.
struct UnknownKey: Error, CustomStringConvertible {
    var description: String { "the server's certificate is valid, but its key is not in ClientOptions.pinnedKeys" }
}

/// Closes the connection if the server has none of the pinned keys, before any data is sent.
///
/// When the TLS handler reports the end of the handshake, it has verified the chain and the host name. A custom verification
/// callback would replace that verification.
final class KeyPinHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tls: NIOSSLClientHandler
    private let pins: Set<KeyPin>

    init(_ tls: NIOSSLClientHandler, pins: Set<KeyPin>) {
        self.tls = tls
        self.pins = pins
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        if let certificate = tls.peerCertificate, let pin = try? KeyPin(certificate), pins.contains(pin) {
            return context.fireUserInboundEventTriggered(event)
        }
        context.fireErrorCaught(UnknownKey())
        // Closes the socket below TLS: an orderly close would first send the data that waits for the handshake.
        if let encrypted = try? context.pipeline.syncOperations.context(handler: tls) {
            encrypted.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }
}
