// Counters of the edge on one event loop.

import NIOHTTP1
import RollcallProtocol

/// What the edge of one event loop has done since it started. Every number only grows.
struct EdgeTally {
    /// Connections that became WebSockets.
    var accepted = 0
    var refused = Counts<RefusalReason>()
    private(set) var closed = Counts<Closing>()
    /// Complete frames, including control frames.
    var receivedFrames = 0
    var sentFrames = 0
    /// Bytes on WebSockets, without handshakes.
    var receivedBytes = 0
    var sentBytes = 0

    mutating func ended(_ ending: EdgeConnection.Ending) {
        closed.count(Closing(ending))
    }
}

/// Why a connection did not become a WebSocket: values of a metric label.
enum RefusalReason: String, CaseIterable {
    case badRequest = "bad_request"
    case notFound = "not_found"
    case method
    case notWebSocket = "not_websocket"
    case origin
    case tooLong = "too_long"
    /// The worker has its maximum of sessions or of handshakes.
    case busy
    /// The address has its maximum of connections, or opens them too fast.
    case address
    /// The request did not arrive in time.
    case late
    case other

    init(_ status: HTTPResponseStatus) {
        self =
            switch status {
            case .badRequest: .badRequest
            case .notFound: .notFound
            case .methodNotAllowed: .method
            case .upgradeRequired: .notWebSocket
            case .forbidden: .origin
            case .requestHeaderFieldsTooLarge: .tooLong
            case .serviceUnavailable: .busy
            case .tooManyRequests: .address
            default: .other
            }
    }
}

/// How a connection ended: values of metric labels. Peers may send any code; only known ones appear as themselves.
struct Closing: Hashable {
    enum Side: String {
        case worker
        case peer
        /// No close frame from either side: network failure, crash, silence.
        case nobody
    }

    let by: Side
    /// The close code, `none`, or `other`.
    let code: String

    init(_ ending: EdgeConnection.Ending) {
        switch ending {
        case .lost: (by, code) = (.nobody, "none")
        case .peer(let code): (by, self.code) = (.peer, code.map(Self.word) ?? "none")
        case .here(let code): (by, self.code) = (.worker, Self.word(code))
        }
    }

    private static func word(_ code: CloseCode) -> String {
        switch code.rawValue {
        case 1000...1015, 4000...4003, 4100...4107: "\(code.rawValue)"
        default: "other"
        }
    }
}
