// Online if any device is, in any order of devices.

import RollcallProtocol
import Testing

@Suite struct PresenceTests {
    @Test("the status is a function of the set of device states")
    func aggregation() {
        for count in 0...4 {
            for number in 0..<Int(3 ** count) {
                var rest = number
                let states = (0..<count).map { _ in
                    defer { rest /= 3 }
                    return DeviceState.allCases[rest % 3]
                }
                let expected: PresenceStatus =
                    states.contains(.active) ? .online : states.contains(.idle) ? .away : .offline
                #expect(PresenceStatus(of: states) == expected, "\(states)")
                #expect(PresenceStatus(of: states.reversed()) == expected, "\(states) reversed")
            }
        }
    }

    @Test("each field of presence is one that observers see, or known to be none")
    func look() {
        let presence = Presence(user: user("a"), status: .offline, lastSeen: time(1), updatedAt: nil, version: 1)
        func fields(_ value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }
        #expect(
            fields(presence)
                == fields(presence.look).union(["user", "updatedAt", "version"]).subtracting(["isTimeless"]))
    }

    @Test("only visible differences make presences differ")
    func looksDifferent() {
        func presence(_ status: PresenceStatus, _ lastSeen: Int64?, version: Int64 = 1) -> Presence {
            Presence(
                user: user("a"), status: status, lastSeen: lastSeen.map(time), updatedAt: nil, version: version)
        }
        #expect(!presence(.online, 1).looksDifferent(from: presence(.online, 2, version: 9)))
        #expect(!presence(.away, 1).looksDifferent(from: presence(.away, 2)))
        #expect(presence(.offline, 1).looksDifferent(from: presence(.offline, 2)))
        #expect(presence(.offline, nil).looksDifferent(from: presence(.offline, 2)))
        #expect(presence(.online, 1).looksDifferent(from: presence(.away, 1)))
        #expect(!presence(.offline, 1).looksDifferent(from: presence(.offline, 1, version: 9)))
    }
}

/// Returns the power of a small number.
private func ** (base: Int, exponent: Int) -> Int { (0..<exponent).reduce(1) { power, _ in power * base } }
infix operator ** : MultiplicationPrecedence
