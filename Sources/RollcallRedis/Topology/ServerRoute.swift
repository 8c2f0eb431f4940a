// The route to a single server.

import NIOCore

/// A fixed server, with credentials that are read for each connection.
struct ServerRoute: RedisRoute {
    let location: RedisLocation
    let credentials: Credentials.Source

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        Credentials.read(credentials, on: eventLoop).map { [location] in location.with($0) }
    }
}

extension RedisLocation {
    /// Returns this server as a destination with these credentials.
    func with(_ credentials: Credentials) -> Destination {
        var location = self
        if let password = credentials.password { location.password = password }
        return Destination(location, tls: isEncrypted ? credentials.tls : nil)
    }
}
