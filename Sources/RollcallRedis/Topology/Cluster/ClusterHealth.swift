import RollcallModel

/// The state of a cluster, as one node reports it (`CLUSTER INFO`).
enum ClusterHealth {
    case well
    /// The majority agrees that a primary is lost. No other node knows better, and this one will learn of the
    /// replacement.
    case lacksPrimary
    /// The node may be in a minority partition, while other nodes go on.
    case cutOff

    init(_ info: String) {
        let facts = info.parts(at: "\n").map { $0.parts(at: "\r")[0].cut(at: ":") }
        func fact(_ name: String) -> String? { facts.first { $0?.before.isSame(as: name) == true }??.after }
        switch (fact("cluster_state"), fact("cluster_slots_pfail")) {
        case ("ok", _): self = .well
        case (_, "0"): self = .lacksPrimary
        default: self = .cutOff
        }
    }
}
