// A wire over a WebSocket that the platform provides. What is decided about one is decided here, in plain types, so that it
// is tested where that platform is not: URLSessionSocket.swift only translates.

/// A WebSocket of the platform. Used on the client's queue only, where its events arrive too, none of them within a call.
package protocol PlatformSocket: AnyObject {
    /// Queues a text message. ``SocketEvent/sent`` follows.
    func send(_ json: [UInt8])
    /// Sends a close frame with this code.
    func close(_ code: UInt16)
    /// Drops the connection at once. No event follows.
    func abort()
}

/// What happens to a WebSocket of the platform.
package enum SocketEvent {
    /// The handshake is done.
    case opened
    /// A message arrived. `nil` if it is no text, which no worker sends.
    case received([UInt8]?)
    /// A message has left, or will never leave.
    case sent
    /// Nothing more can be read. Whether the server closed the connection, ``closed(_:because:)`` or ``ended(_:answer:)``
    /// tells, but a platform may fail to.
    case interrupted(any Error)
    /// The server's close frame arrived. 1005 stands for one without a code, and 1006 for none.
    case closed(UInt16, because: [UInt8])
    /// The last event, with the HTTP response if it was no handshake.
    case ended((any Error)?, answer: UpgradeRefused?)
}

/// One WebSocket to one worker.
package final class PlatformWire: Wire, @unchecked Sendable {
    /// Makes a socket that connects, and passes it its events.
    package typealias Open = (@escaping (SocketEvent) -> Void) -> any PlatformSocket

    /// How long an orderly close may take before the connection is dropped.
    private static let closeTime = Duration.seconds(2)
    /// How long after the last message the close frame may be reported.
    private static let closeReportTime = Duration.seconds(1)

    package let mayDieSilently = true
    private let environment: Environment
    private let codec = MessageCodec()
    private weak var owner: (any WireOwner)?
    private var socket: (any PlatformSocket)?
    private var isOpen = false
    /// Whether the owner gets no further events.
    private var isOver = false
    private var unsent = 0
    /// Called when an orderly close is done; set while it is not.
    private var closed: (() -> Void)?
    private var cancelTimer: (() -> Void)?

    package init(in environment: Environment, owner: any WireOwner, open: Open) {
        (self.environment, self.owner) = (environment, owner)
        socket = open { self.happened($0) }
    }

    package func send(_ request: ClientRequest) {
        guard isOpen, !isOver else { return }
        unsent += 1
        socket?.send(codec.json(of: request))
    }

    package func flush() {}

    package func close(_ done: @escaping () -> Void) {
        guard isOpen, !isOver else {
            abort()
            return done()
        }
        isOver = true
        closed = done
        setTimer(Self.closeTime) { [self] in finish() }
        closeIfAllIsSent()
    }

    package func abort() {
        isOver = true
        finish()
    }

    /// A platform may send its close frame before what is queued, so that comes first.
    private func closeIfAllIsSent() {
        if closed != nil, unsent == 0 { socket?.close(CloseCode.normal.rawValue) }
    }

    private func happened(_ event: SocketEvent) {
        switch event {
        case .sent:
            unsent -= 1
            closeIfAllIsSent()
        case .opened:
            guard !isOver, !isOpen else { return }
            isOpen = true
            owner?.wireOpened(self)
        case .received(let json):
            guard isOpen, !isOver else { return }
            owner?.wireHeard(self)
            // What cannot be read is ignored: it may come from a newer worker.
            guard !isOver, let json, let message = try? json.withUnsafeBytes({ try codec.message(from: $0) })
            else { return }
            owner?.wireReceived(self, message)
        case .interrupted(let error):
            if isOpen, !isOver { setTimer(Self.closeReportTime) { [self] in ended(.lost(error)) } }
        case .closed(let code, let sentence):
            // What stands for no code is what a lost connection is.
            let hasCode = code != 1005 && code != 1006
            let sentence = ByteString(decoding: sentence).string
            ended(hasCode ? .closed(CloseCode(rawValue: code), because: sentence) : .lost(nil))
        case .ended(let error, let answer):
            ended(isOpen ? .lost(error) : .notReached(answer ?? error))
        }
    }

    private func ended(_ ending: Ending) {
        let wasOver = isOver
        abort()
        if !wasOver { owner?.wireEnded(self, how: ending) }
    }

    /// Ends the socket, and an orderly close.
    private func finish() {
        cancelTimer?()
        socket?.abort()
        socket = nil
        closed.take()?()
    }

    private func setTimer(_ pause: Duration, _ passed: @escaping @Sendable () -> Void) {
        cancelTimer?()
        cancelTimer = environment.at(environment.now() + pause, passed)
    }
}
