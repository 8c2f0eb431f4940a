/// What a node says of its cluster (`CLUSTER INFO`).
enum ClusterHealth {
    case well
    /// Most agree that some primary is lost. No other node knows better, and this one will know of the next.
    case lacksPrimary
    /// It may be of a minority, and others go on.
    case cutOff

    init(_ info: String) {
        let facts = info.split(whereSeparator: \.isNewline).map { $0.split(separator: ":") }
        func fact(_ name: Substring) -> Substring? { facts.first { $0.first == name }?.last }
        switch (fact("cluster_state"), fact("cluster_slots_pfail")) {
        case ("ok", _): self = .well
        case (_, "0"): self = .lacksPrimary
        default: self = .cutOff
        }
    }
}
