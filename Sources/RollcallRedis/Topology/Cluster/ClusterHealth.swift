import RollcallModel

/// What a node says of its cluster (`CLUSTER INFO`).
enum ClusterHealth {
    case well
    /// Most agree that some primary is lost. No other node knows better, and this one will know of the next.
    case lacksPrimary
    /// It may be of a minority, and others go on.
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
