// One proxied connection: two sockets and a lane in each direction.

internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A connection through a proxy. Used on one event loop only.
final class Tunnel {
    let client: any Channel
    private(set) var server: (any Channel)?
    /// From the client to the server. `down` is the opposite direction.
    let up: Lane
    let down: Lane
    /// The kind of connection; `nil` until the client has sent enough to classify it.
    private(set) var traffic: Traffic?
    private var opening = ByteBuffer()
    /// Classifies a connection by its first bytes; `nil` while more bytes are needed.
    private let tell: (ByteBuffer) -> Traffic?
    /// Called once, when ``traffic`` is known.
    private let recognised: (Tunnel) -> Void
    /// Called with everything that the client sends, before it is forwarded.
    private let overheard: (Tunnel, ByteBuffer) -> Void

    init(
        client: any Channel, traffic: Traffic?, tell: @escaping (ByteBuffer) -> Traffic?,
        recognised: @escaping (Tunnel) -> Void,
        overheard: @escaping (Tunnel, ByteBuffer) -> Void
    ) {
        self.client = client
        self.traffic = traffic
        self.tell = tell
        self.recognised = recognised
        self.overheard = overheard
        up = Lane(.stalled)
        down = Lane(.stalled)
        down.goes(to: client)
        if traffic != nil { recognised(self) }
    }

    var weather: Weather {
        get { up.weather }
        set { (up.weather, down.weather) = (newValue, newValue) }
    }

    /// Handles the connection to the server: waiting bytes may be forwarded.
    func connected(to server: any Channel) {
        self.server = server
        up.goes(to: server)
        down.comes(from: server)
    }

    func clientSent(_ bytes: ByteBuffer) {
        recognise(bytes)
        overheard(self, bytes)
        up.received(bytes)
    }

    func cut(_ how: Cut) {
        for channel in [client, server].compactMap({ $0 }) {
            if how == .reset, let options = channel as? any SocketOptionProvider {
                // Closing with a linger time of 0 sends a reset.
                _ = options.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            }
            channel.close(promise: nil)
        }
    }

    private func recognise(_ bytes: ByteBuffer) {
        guard traffic == nil else { return }
        opening.writeImmutableBuffer(bytes)
        traffic = tell(opening)
        if traffic != nil { recognised(self) }
    }
}
