// The network between one worker and Redis.

internal import Harness

extension Fault {
    static let networkFaults =
        [cut(.all), cut(.commands), cut(.subscribers)]
        + [stalled(.all, 3), stalled(.all, 8), stalled(.all, 30), stalled(.commands, 8), stalled(.subscribers, 8)]
        + [slow(.all), slow(.commands), slow(.subscribers)]

    private static func cut(_ traffic: Traffic) -> Fault {
        Fault(.network, "\(traffic.name) cut for 8 s") { stage in
            try await stage.partition(Partition(traffic: traffic, lasts: .seconds(8))) { ways in
                try await ways.set(.refusing, for: traffic)
                try await ways.cut(.reset, traffic)
            } end: { ways in
                try await ways.set(.clear)
            }
        }
    }

    /// All bytes are held back, and forwarded at the end.
    private static func stalled(_ traffic: Traffic, _ seconds: Int) -> Fault {
        Fault(.network, "\(traffic.name) stalled for \(seconds) s") { stage in
            try await stage.partition(Partition(traffic: traffic, lasts: .seconds(seconds))) { ways in
                try await ways.set(.stalled, for: traffic)
            } end: { ways in
                try await ways.set(.clear)
            }
        }
    }

    /// A round trip takes 200 ms longer.
    private static func slow(_ traffic: Traffic) -> Fault {
        Fault(.network, "\(traffic.name) 200 ms slow for 8 s") { stage in
            let partition = Partition(traffic: traffic, lasts: .seconds(8), isDeaf: false)
            try await stage.partition(partition) { ways in
                try await ways.set(.slow(.milliseconds(100)), for: traffic)
            } end: { ways in
                try await ways.set(.clear)
            }
        }
    }
}

extension Traffic {
    fileprivate var name: String {
        switch self {
        case .commands: "command connections"
        case .subscribers: "subscriber connections"
        default: "all connections to Redis"
        }
    }
}
