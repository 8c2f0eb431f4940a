// One way to do harm: what is sent, and what has to come back. The tests play each a few times, `make attacks` many
// times, and both ask the same of it.

/// An attack on a worker's edge.
public struct Attack: Sendable, CustomStringConvertible {
    /// How far a stranger has come when the harm begins.
    enum Stage: Sendable {
        /// Connected; nothing was said.
        case door
        /// A WebSocket.
        case upgraded
        /// A session, of a device of its own.
        case session
    }

    /// How a worker takes it, in words, and how often.
    public typealias Outcomes = [String: Int]

    public let description: String
    /// Which outcomes are right.
    public let answers: Set<String>
    /// Whether it is about tokens, on a worker that asks for signed ones.
    public let wantsSignedTokens: Bool
    /// Of how many at once it is made; nil where each is one stranger's, and any number may be played.
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

    /// - Parameter play: says of each of the crowd how the worker took it.
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

    /// All of them.
    public static let all = frames + texts + handshakes + names + tokens + crowds
}

extension Attack.Stage {
    /// A worker, and who the next stranger is.
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
