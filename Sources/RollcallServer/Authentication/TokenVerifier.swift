// How a shard has tokens checked. A server that embeds a node has no tokens, and a worker's are checked elsewhere.

package import RollcallProtocol

/// Checks tokens.
package protocol TokenVerifier: Sendable {
    /// Returns the user and device of a token, without waiting: if its key is unknown, looks for the key meanwhile.
    ///
    /// - Parameter device: The device that the client named.
    func identity(token: ByteString, device: DeviceID?) throws(AuthenticationError) -> Identity
}
