// Who sent a request.

import Hummingbird
import NIOCore

/// A request's surroundings, with the address that it came from.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
