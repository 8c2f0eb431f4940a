// The client address of a request.

import Hummingbird
import NIOCore

/// A request context with the address that the request came from.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
