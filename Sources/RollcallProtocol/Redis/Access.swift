// Who may join a conversation because an app's server says so: the question, its answer, and what Redis keeps of it.

/// Whether a user may join a conversation, as an app's server is asked.
public struct AccessQuestion: Hashable, Comparable, Sendable {
    public var user: UserID
    public var conversation: ConversationID

    public init(user: UserID, conversation: ConversationID) {
        (self.user, self.conversation) = (user, conversation)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.user, left.conversation) < (right.user, right.conversation)
    }
}

/// What the server answered.
public enum AccessAnswer: Hashable, Sendable {
    /// - Parameter people: who else belongs to the conversation, if the server says that: they may see one another.
    case allow(for: Duration, people: [UserID]?)
    case deny(for: Duration)
}

/// Notes an answer in Redis, if nothing was dropped since it was asked for.
public struct AccessWrite: Hashable, Sendable {
    public var question: AccessQuestion
    public var answer: AccessAnswer
    /// When the question was sent, in Redis time.
    public var sent: Timestamp

    public init(_ question: AccessQuestion, _ answer: AccessAnswer, sent: Timestamp) {
        (self.question, self.answer, self.sent) = (question, answer, sent)
    }
}

public struct AccessWritten: Hashable, Sendable {
    /// Redis's time. An admission lasts from here.
    public var time: Timestamp
    /// When something was dropped since: the answer counts for nothing.
    public var dropped: Timestamp?

    public init(time: Timestamp, dropped: Timestamp? = nil) {
        (self.time, self.dropped) = (time, dropped)
    }
}

/// What Redis says of a user's access to a conversation.
public struct AccessRecord: Hashable, Sendable {
    /// The end of an admission that counts.
    public var until: Timestamp?
    /// When admissions were last dropped, this user's or all.
    public var dropped: Timestamp?

    public init(until: Timestamp? = nil, dropped: Timestamp? = nil) {
        (self.until, self.dropped) = (until, dropped)
    }

    /// How long a drop is remembered, in milliseconds: longer than any admission lasts. What ends even later does not count.
    package static let memory: Int64 = 25 * 3_600_000
    /// How long after a drop a question must have been sent for its answer to count: clocks are estimates.
    package static let margin = Duration.seconds(1)
}
