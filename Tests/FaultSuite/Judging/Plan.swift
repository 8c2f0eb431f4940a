// What a fault declares about itself while it runs.

internal import RollcallClient

/// What should be observed in a round, and what excuses deviations.
struct Plan: Sendable {
    /// Users who have the stage's room open on every device: while they are present, they are there.
    var visitors: Set<UserID> = []
    var expectations: [Expectation] = []
    var prohibitions: [Prohibition] = []
    /// Periods in which the worker of a host could not know the current state. Its observers must have it when they
    /// end.
    var blind: [(host: Int, span: Range<Moment>)] = []
    /// Periods in which the worker of a host may take Redis to be away, so that nobody goes in what it shows of a room.
    var unsettled: [(host: Int, span: Range<Moment>)] = []
    /// Periods in which Redis had no memory left: nobody begins to be in the room.
    var full: [Range<Moment>] = []
    /// Periods in which reads may be wrong: Redis was away, or had lost data and was still being written again.
    var unreadable: [Range<Moment>] = []
    /// Connections to these hosts may end from these moments on, because their workers were stopped.
    var gone: [(host: Int, since: Moment)] = []
    /// When workers were restarted on hosts: connections opened later must not end.
    var restarted: [(host: Int, at: Moment)] = []
    /// Users who are not members of a managed conversation.
    var exclusions: [Exclusion] = []
    /// Periods in which Redis had lost the members, and they were not yet set and known again.
    var membersUnknown: [Range<Moment>] = []
    /// How long a client displays a set of typing users that is not repeated: `typing.expiry` and two seconds.
    var typingTimeout = Duration.seconds(5)
    /// Users whose devices' connections may end.
    var mayLose: Set<UserID> = []
    /// When Redis lost acknowledged data: versions and times may go back.
    var dataLost: Moment?
    /// When Redis's clock was set back, and by how much: times by this clock may go back.
    var clockSetBack: (at: Moment, by: Duration)?
    /// When the fault and all its consequences are over: from then on, nothing may go back.
    var over: Moment?
    /// Findings of the fault itself.
    var findings: [Finding] = []

    /// These, and of each status what it means for who is in the room.
    func with(_ things: [Expectation.Thing]) -> [Expectation.Thing] {
        things
            + things.compactMap { thing in
                guard case .status(let user, let status) = thing, visitors.contains(user) else { return nil }
                return .here(user, status != .offline)
            }
    }
}
