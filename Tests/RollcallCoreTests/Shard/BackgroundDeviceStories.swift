// What observers see of a user whose devices in the background come, change and go: nothing.

import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct BackgroundDeviceStories {
    /// Alice has been seen, and is offline; bob may watch her.
    private func offline(watched: Bool) -> (stage: Stage, bob: Session, carol: Session) {
        let stage = Stage()
        let alice = stage.enter("alice")
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        if watched { stage.say(.watch(["alice"]), on: bob) }
        stage.settle()
        stage.pass(.seconds(10))
        stage.say(.goodbye, on: alice)
        stage.settle()
        stage.pass(.seconds(10))
        stage.forgetWhatWasSaid()
        return (stage, bob, carol)
    }

    /// What carol, who has not looked before, is shown of a user, by each way to look.
    private func shown(_ user: UserID, to carol: Session, _ stage: Stage) -> [Presence] {
        let read = stage.redis.presence(of: [user], known: stage.shard.redis.known(at: stage.now))
        let overHTTP = stage.shard.presences(in: read)
        stage.say(.get([user]), id: "g", on: carol)
        stage.say(.watch([user]), on: carol)
        stage.settle()
        stage.say(.unwatch([user]), on: carol)
        let asked = stage.heard(by: carol).presences
        stage.redis.setMembers([user: "Member", "carol": "Carol"], of: "c")
        stage.say(.join("c", presence: true), on: carol)
        stage.settle()
        stage.say(.leave("c"), on: carol)
        return overHTTP.map(\.shown.presence) + asked + stage.heard(by: carol).presences.filter { $0.user == user }
    }

    /// Devices in the background come, take each other over, fall silent, come back and go, here and elsewhere.
    private static let changes: [@Sendable (Stage) -> Void] = [
        { _ = $0.enter("alice", "tablet", state: .background) },
        { _ = $0.enter("alice", "tablet", state: .background) },
        { $0.drop($0.enter("alice", "watch", state: .background)) },
        { $0.pass(.seconds(3)) },
        { _ = $0.enter("alice", "watch", state: .background) },
        { $0.say(.goodbye, on: $0.enter("alice", "watch", state: .background)) },
        { $0.drop($0.enter("alice", "phone", state: .background)) },
        { $0.pass(.seconds(10)) },
        {
            let name = SessionName(user: "alice", device: "car", session: SessionID(random: "far"))
            for (state, sequence) in [(DeviceState.background, 1), (nil, 2)] as [(DeviceState?, Int64)] {
                _ = $0.redis.write(
                    DeviceWrite(
                        name: name, state: state, incarnation: w2, began: nil, age: .zero, opened: $0.redis.time,
                        sequence: sequence, lost: nil, until: $0.redis.time))
            }
        },
    ]

    @Test(
        "an observer is told nothing of background devices, and reads say the same before and after",
        arguments: [true, false])
    func nothingIsShown(watched: Bool) {
        let (stage, bob, carol) = offline(watched: watched)
        let before = shown("alice", to: carol, stage)
        #expect(before.count == 4 && Set(before).count == 1 && before[0].lastSeen != nil)
        for (number, change) in Self.changes.enumerated() {
            change(stage)
            stage.settle()
            stage.pass(.seconds(1))
            #expect(shown("alice", to: carol, stage) == before, "after change \(number)")
        }
        #expect(stage.heard(by: bob).isEmpty)

        let version = before[0].version
        _ = stage.enter("alice")
        stage.settle()
        let online = shown("alice", to: carol, stage)
        #expect(online.allSatisfy { $0.status == .online && $0.version > version })
    }

    @Test(
        "a user whose devices were never but in the background reads as one of whom there is no record",
        arguments: [true, false])
    func neverSeen(watched: Bool) {
        let stage = Stage()
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        if watched { stage.say(.watch(["alice", "nobody"]), on: bob) }
        stage.settle()
        stage.forgetWhatWasSaid()
        for (number, change) in Self.changes.enumerated() {
            change(stage)
            stage.settle()
            stage.pass(.seconds(1))
            var nobody = shown("nobody", to: carol, stage)
            #expect(nobody.count == 4 && nobody.allSatisfy { $0.version == 0 && $0.updatedAt == nil })
            for index in nobody.indices { nobody[index].user = "alice" }
            #expect(shown("alice", to: carol, stage) == nobody, "after change \(number)")
        }
        #expect(stage.heard(by: bob).isEmpty)
    }

    @Test("a background device moves nothing that is shown of a user who is online")
    func online() {
        let stage = Stage()
        let carol = stage.enter("carol")
        _ = stage.enter("alice")
        stage.settle()
        let before = shown("alice", to: carol, stage)
        stage.pass(.seconds(5))
        let tablet = stage.enter("alice", "tablet", state: .background)
        stage.settle()
        for presence in shown("alice", to: carol, stage) {
            #expect(presence.version == before[0].version && presence.updatedAt == before[0].updatedAt)
        }
        stage.say(.state(.active), on: tablet)
        stage.settle()
        #expect(shown("alice", to: carol, stage).allSatisfy { $0.version > before[0].version })
    }
}
