// TLS to Redis as we speak it: whom we trust, what we show of ourselves, and whom we expect to meet.

public import NIOSSL

/// With what a connection speaks TLS.
public struct TLSClient: Sendable {
    public let context: NIOSSLContext
    /// Whom the certificate must name; `nil` for the host that is connected to.
    public let serverName: String?

    public init(context: NIOSSLContext, serverName: String? = nil) {
        self.context = context
        self.serverName = serverName
    }

    /// What leads a channel to a server of this host, which its certificate must name. An address is no server name that
    /// could be sent: it is held to the address that the channel is connected to.
    func handler(for host: String) throws -> NIOSSLClientHandler {
        do {
            return try NIOSSLClientHandler(context: context, serverHostname: serverName ?? host)
        } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI && serverName == nil {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
    }
}
