// When the clients of a stopped worker were connected again.

import Harness
import RollcallClient

/// The moments at which clients reconnected after one worker received SIGTERM.
struct Reconnects: CustomStringConvertible {
    private static let bucket = Duration.milliseconds(250)
    /// Since the signal, in order.
    let moments: [Duration]
    /// The longest time that any of them was disconnected.
    let longestGap: Duration

    init(of clients: [Observer<ConnectionState>], since told: ContinuousClock.Instant) {
        var moments: [Duration] = []
        var longestGap = Duration.zero
        for client in clients {
            var lost: ContinuousClock.Instant?
            for (state, at) in client.timeline where at > told {
                if !state.isConnected { lost = lost ?? at }
                guard state.isConnected, let since = lost else { continue }
                moments.append(at - told)
                longestGap = max(longestGap, at - since)
                lost = nil
            }
        }
        self.moments = moments.sorted()
        self.longestGap = longestGap
    }

    /// The number of reconnects in each 250 ms.
    var histogram: [Int] {
        guard let last = moments.last else { return [] }
        var counts = Array(repeating: 0, count: Int(last / Self.bucket) + 1)
        for moment in moments { counts[Int(moment / Self.bucket)] += 1 }
        return counts
    }

    var description: String {
        "\(moments.count) reconnects, each 250 ms \(histogram), away for \(longestGap.milliseconds) ms at most"
    }
}
