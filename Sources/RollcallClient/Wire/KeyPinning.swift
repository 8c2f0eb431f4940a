// Pinned keys: besides a valid certificate, a server must have one of the public keys that the app lists. So a certificate
// that an authority issued to an attacker is of no use.

import Crypto
import NIOCore
import NIOSSL
import NIOTLS

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A public key that a server may have, by the SHA-256 digest of its SubjectPublicKeyInfo (RFC 5280).
///
/// The digest stays the same when a certificate is renewed with the same key.
public struct KeyPin: Hashable, Sendable {
    let digest: [UInt8]

    /// - Parameter base64: the 32 bytes of the digest in base64, as `openssl dgst -sha256 -binary | base64` prints them.
    ///   What is no such digest gives `nil`.
    public init?(sha256 base64: String) {
        guard let digest = Data(base64Encoded: base64), digest.count == SHA256.byteCount else { return nil }
        self.digest = Array(digest)
    }

    /// The pin of the key in a certificate.
    init(_ certificate: NIOSSLCertificate) throws {
        digest = Array(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
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
