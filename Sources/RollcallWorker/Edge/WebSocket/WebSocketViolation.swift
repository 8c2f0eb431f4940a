// What a peer can do wrong on a WebSocket, each with the close code that RFC 6455 gives it and a sentence for the
// developer at the other end.

import RollcallModel

/// A broken rule of RFC 6455, which ends the connection.
package enum WebSocketViolation: Error, Hashable, Sendable {
    case reservedBits
    case unknownOpcode
    case unmasked
    case binary
    case fragmentedControl
    case longControl
    case continuationOfNothing
    case messageWithinMessage
    case lengthNotMinimal
    case emptyFragments
    case tooBig
    case notUTF8
    case badClosePayload

    var code: CloseCode {
        switch self {
        case .binary: .unsupportedData
        case .tooBig: .tooBig
        case .notUTF8: .invalidText
        case .reservedBits, .unknownOpcode, .unmasked, .fragmentedControl, .longControl, .continuationOfNothing,
            .messageWithinMessage, .emptyFragments, .lengthNotMinimal, .badClosePayload:
            .protocolError
        }
    }

    var reason: String {
        switch self {
        case .reservedBits: "A reserved bit is set, but no extension was agreed."
        case .unknownOpcode: "The opcode is a reserved one."
        case .unmasked: "A client must mask its frames."
        case .binary: "Messages are text frames with JSON."
        case .fragmentedControl: "A control frame must not be fragmented."
        case .longControl: "A control frame holds at most 125 bytes."
        case .continuationOfNothing: "A continuation frame came, but no message had begun."
        case .messageWithinMessage: "A message began before the one before it had ended."
        case .emptyFragments: "A message has more than \(WebSocketDecoder.mostEmptyFragments) empty fragments."
        case .lengthNotMinimal: "A length must be written in the fewest bytes."
        case .tooBig: "The message is larger than limits.message_bytes."
        case .notUTF8: "Text must be UTF-8."
        case .badClosePayload: "The close frame has no valid code."
        }
    }
}
