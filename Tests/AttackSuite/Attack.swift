// One attack: what is sent, and what the worker must answer. The tests run each one a few times, `make attacks` many
// times, both with the same expectations.

/// An attack on a worker's edge.
public struct Attack: Sendable, CustomStringConvertible {
    /// The state of the connection when the attack begins.
    enum Stage: Sendable {
        /// Connected; nothing was sent.
        case door
        /// Upgraded to a WebSocket.
        case upgraded
        /// A session of a new device.
        case session
    }

    /// How the worker reacted, in words, with the number of times.
    public typealias Outcomes = [String: Int]

    public let description: String
    /// The outcomes that are correct.
    public let answers: Set<String>
    /// Whether the attack is about tokens, and needs a worker that requires signed ones.
    public let wantsSignedTokens: Bool
    /// The number of simultaneous connections; `nil` for attacks by single connections, of which any number may run.
    public let crowd: Int?
    let play: @Sendable (Stage.Place) throws -> Outcomes

    /// - Parameter bytes: what is sent.
    init(
        _ description: String, at stage: Stage, answers: some Sequence<String>, signedTokens: Bool = false,
        _ bytes: [UInt8]
    ) {
        self.description = description
        self.answers = Set(answers)
        wantsSignedTokens = signedTokens
        crowd = nil
        play = { place in
            let stranger = try place.stranger(at: stage)
            stranger.send(bytes)
            return [stage == .door ? stranger.httpStatus().map { "HTTP \($0)" } ?? "end" : stranger.outcome(): 1]
        }
    }

    init(_ description: String, at stage: Stage, answer: String, _ others: String..., sending bytes: [UInt8]) {
        self.init(description, at: stage, answers: [answer] + others, bytes)
    }

    /// - Parameter play: returns how the worker reacted to each connection.
    init(
        _ description: String, crowd: Int, answer answers: String...,
        play: @escaping @Sendable (Stage.Place, _ crowd: Int) throws -> Outcomes
    ) {
        self.description = description
        self.answers = Set(answers)
        wantsSignedTokens = false
        self.crowd = crowd
        self.play = { try play($0, crowd) }
    }

    /// All attacks.
    public static let all = frames + texts + handshakes + names + tokens + crowds
}

extension Attack.Stage {
    /// A worker, and the user and device of the next connection.
    struct Place: Sendable {
        let port: Int
        let user: String

        func stranger(at stage: Attack.Stage) throws -> Stranger {
            let stranger = try Stranger(port: port)
            switch stage {
            case .door: break
            case .upgraded: try stranger.upgrade()
            case .session: try stranger.enter(token: user, device: "d")
            }
            return stranger
        }
    }
}
