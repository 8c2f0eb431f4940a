package import NIOCore

/// The route to one sentinel, which has its own users.
package struct SentinelWay: RedisRoute {
    private let sentinel: RedisLocation.Address
    private let isEncrypted: Bool
    private let credentials: Credentials.Source

    package init(_ sentinel: RedisLocation.Address, isEncrypted: Bool, credentials: Credentials.Source?) {
        self.sentinel = sentinel
        self.isEncrypted = isEncrypted
        self.credentials = credentials ?? { Credentials() }
    }

    package func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        Credentials.read(credentials, on: eventLoop).map { [sentinel, isEncrypted] credentials in
            let location = RedisLocation(
                sentinel, username: credentials.sentinelUsername, password: credentials.sentinelPassword,
                isEncrypted: isEncrypted)
            return Destination(location, tls: isEncrypted ? credentials.tls : nil)
        }
    }
}
