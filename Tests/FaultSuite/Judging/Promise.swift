// What is promised whatever fails, as far as it can be seen from outside.

/// A promise that a fault puts to the test.
public enum Promise: String, CaseIterable, Codable, Hashable, Sendable {
    /// Who is gone for good is shown offline in time.
    case offline
    /// Typing ends in time.
    case typing
    /// What observers see is the truth again soon after the fault is over.
    case convergence
    /// What happens afterwards is seen as fast as ever.
    case change
    /// Who is there, or back in time, never appears offline.
    case steadiness
    /// No read shows somebody whose devices are all of dead workers.
    case ghosts
    /// What is older never takes the place of what is newer.
    case order
    /// Nobody sees their own typing, and only members see typing or signal it in a managed conversation.
    case audience
    /// Devices keep their connections to workers that live.
    case connections
    /// A promise of one fault alone.
    case other

    /// What observers may take to see the truth after an outage.
    static let convergenceLimit = Duration.seconds(2)
    /// How soon after a change every observer should see it where nothing is wrong.
    static let changeLimit = Duration.milliseconds(500)
    /// What anything may take on its way from one device to another where nothing is wrong.
    static let way = Duration.milliseconds(150)
}
