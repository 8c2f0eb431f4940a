// What a fault says about itself while it happens.

internal import RollcallClient

/// What should be seen of a round, and what excuses what is not.
struct Plan: Sendable {
    var expectations: [Expectation] = []
    var prohibitions: [Prohibition] = []
    /// When the worker of a host could not know the truth: its observers have it when that is over.
    var blind: [(host: Int, span: Range<Moment>)] = []
    /// When no read need tell the truth: Redis was away, or had lost it and was still being told again.
    var unreadable: [Range<Moment>] = []
    /// Connections to these hosts may end from these moments on, for their workers went.
    var gone: [(host: Int, since: Moment)] = []
    /// When workers were started again on hosts: what connects afterwards may not end.
    var restarted: [(host: Int, at: Moment)] = []
    /// Who is not a member of a managed conversation.
    var exclusions: [Exclusion] = []
    /// When Redis had lost who the members are, and they were not set and known again yet.
    var membersUnknown: [Range<Moment>] = []
    /// How long a client believes a set of typists that is not repeated: `typing.expiry` and two seconds.
    var typingTimeout = Duration.seconds(5)
    /// Devices whose connections may end.
    var mayLose: Set<UserID> = []
    /// When Redis forgot what it had acknowledged: versions and moments may go back with it.
    var dataLost: Moment?
    /// When Redis's clock was set back, and by how much: moments on it may go back with it.
    var clockSetBack: (at: Moment, by: Duration)?
    /// When the fault and all its consequences are over: from then on nothing may go back any more.
    var over: Moment?
    /// What the fault found out by itself.
    var findings: [Finding] = []
}
