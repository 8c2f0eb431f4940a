// The way to one server that does not move.

import NIOCore

/// One server, and the credentials of the moment.
struct ServerRoute: RedisRoute {
    let location: RedisLocation
    let credentials: Credentials.Source

    func next(on eventLoop: any EventLoop) -> EventLoopFuture<Destination> {
        Credentials.read(credentials, on: eventLoop).map { [location] in location.with($0) }
    }
}

extension RedisLocation {
    /// This server, as whom the credentials say.
    func with(_ credentials: Credentials) -> Destination {
        var location = self
        if let password = credentials.password { location.password = password }
        return Destination(location, tls: isEncrypted ? credentials.tls : nil)
    }
}
