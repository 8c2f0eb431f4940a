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
    /// Devices whose connections may end.
    var mayLose: Set<UserID> = []
    /// Redis forgot what it had acknowledged: versions and moments may go back with it.
    var dataIsLost = false
    /// What the fault found out by itself.
    var findings: [Finding] = []
}
