// Protocol violations by a peer, each with its close code from RFC 6455 and a sentence for the client's developer.

import RollcallProtocol

/// A violation of RFC 6455, which ends the connection.
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
        case .reservedBits: "A reserved bit is set, but no extension was negotiated."
        case .unknownOpcode: "The opcode is reserved."
        case .unmasked: "A client must mask its frames."
        case .binary: "Messages must be text frames with JSON."
        case .fragmentedControl: "A control frame must not be fragmented."
        case .longControl: "A control frame holds at most 125 bytes."
        case .continuationOfNothing: "A continuation frame arrived outside of a message."
        case .messageWithinMessage: "A message started before the previous one had ended."
        case .emptyFragments: "A message has more than \(WebSocketDecoder.mostEmptyFragments) empty fragments."
        case .lengthNotMinimal: "A length must use the fewest bytes possible."
        case .tooBig: "The message is larger than limits.message_bytes."
        case .notUTF8: "Text must be UTF-8."
        case .badClosePayload: "The close frame has no valid code."
        }
    }
}
