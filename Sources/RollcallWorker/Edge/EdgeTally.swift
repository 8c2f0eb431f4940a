// What the edge does on one event loop, in numbers for those who operate it: counted where it happens, and read once in
// a while.

import NIOHTTP1
import RollcallModel

/// What the edge of one event loop has done since it began. Each number only grows.
struct EdgeTally {
    /// Connections that became WebSockets.
    var accepted = 0
    var refused = Counts<RefusalReason>()
    private(set) var closed = Counts<Closing>()
    /// Whole frames, those of control among them.
    var receivedFrames = 0
    var sentFrames = 0
    /// On WebSockets, without the handshakes.
    var receivedBytes = 0
    var sentBytes = 0

    mutating func ended(_ ending: EdgeConnection.Ending) {
        closed.count(Closing(ending))
    }
}

/// Why a connection did not become a WebSocket, in few words.
enum RefusalReason: String, CaseIterable {
    case badRequest = "bad_request"
    case notFound = "not_found"
    case method
    case notWebSocket = "not_websocket"
    case origin
    case tooLong = "too_long"
    /// The worker holds as many sessions as it may, or has as many handshakes in hand.
    case busy
    /// The address has as many connections as it may, or opens them too fast.
    case address
    /// The request was not there in time.
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

/// How a connection ended, in few words: a peer may send any code, and each that is ours is told apart.
struct Closing: Hashable {
    enum Side: String {
        case worker
        case peer
        /// Nobody said anything: a network, a crash, silence.
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
        case 1000...1015, 4000...4003, 4100...4106: "\(code.rawValue)"
        default: "other"
        }
    }
}
