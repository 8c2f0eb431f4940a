// What Rollcall promises under faults, as far as it can be observed from outside.

/// A promise that a fault tests.
public enum Promise: String, CaseIterable, Codable, Hashable, Sendable {
    /// A user who has left for good is shown offline in time.
    case offline
    /// Typing ends in time.
    case typing
    /// Observers see the actual state soon after the fault is over.
    case convergence
    /// Later changes are seen as fast as before.
    case change
    /// A user who is connected, or reconnects in time, never appears offline.
    case steadiness
    /// No read shows a user present whose devices all belong to dead workers.
    case ghosts
    /// Older state never replaces newer state.
    case order
    /// Users never see their own typing, and only members see typing or may type in a managed conversation.
    case audience
    /// Devices keep their connections to live workers.
    case connections
    /// A promise of one fault only.
    case other

    /// The time limit for observers to see the actual state after an outage.
    static let convergenceLimit = Duration.seconds(2)
    /// The time limit for every observer to see a change when nothing is wrong.
    static let changeLimit = Duration.milliseconds(500)
    /// The time limit for one message from a device to another when nothing is wrong.
    static let way = Duration.milliseconds(150)
}
