// TLS to Redis: trusted authorities, the client certificate and the expected server name.

public import NIOSSL

/// The TLS configuration of a connection.
public struct TLSClient: Sendable {
    public let context: NIOSSLContext
    /// The name that the certificate must contain; `nil` for the host being connected to.
    public let serverName: String?

    public init(context: NIOSSLContext, serverName: String? = nil) {
        self.context = context
        self.serverName = serverName
    }

    /// Returns the handler for a channel to this host, whose name the certificate must contain. An IP address cannot be
    /// sent as a server name (SNI); the certificate must then contain the address that the channel is connected to.
    func handler(for host: String) throws -> NIOSSLClientHandler {
        do {
            return try NIOSSLClientHandler(context: context, serverHostname: serverName ?? host)
        } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI && serverName == nil {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
    }
}
