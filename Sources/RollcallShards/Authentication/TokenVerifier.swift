// How a shard has tokens checked. A server that embeds a node has no tokens, and a worker's are checked elsewhere.

package import NIOCore
package import RollcallModel

/// Checks tokens.
package protocol TokenVerifier: Sendable {
    /// Returns the user and device of a token.
    ///
    /// - Parameter device: The device that the client named.
    func identity(token: ByteString, device: DeviceID?) throws(AuthenticationError) -> Identity

    /// Handles a token that was refused because its key is unknown.
    ///
    /// - Returns: A future that completes when the token is worth checking again.
    /// - Throws: The refusal, if it is final; or `keysUnavailable` if too many tokens are waiting already.
    func lookAgain(
        after error: AuthenticationError, on eventLoop: any EventLoop
    ) throws(AuthenticationError) -> EventLoopFuture<Void>

    /// The error to report after every attempt to find the key.
    func final(_ error: AuthenticationError) -> AuthenticationError
}
