// Typing and members, with a real Redis and with its twin.

import RedisTwin
import RollcallProtocol
import RollcallRedis
import Testing

@Suite(.serialized) struct ContractTypingStories {
    private let set = "typing:{lounge}"
    private let string = "typing:{lounge}:alice"

    @Test(arguments: Party.allCases) func typingEndsByItself(party: Party) async throws {
        let redis = try await party.open(.init(typingExpiry: .milliseconds(300)))
        let before = try await redis.time()
        #expect(try await redis.signal(alice) == .typing)
        let change = try #require(try await redis.typingHeard().first)
        #expect(change.typing && change.expiresIn == 300 && change.at >= before)
        let ends = change.at.advanced(by: .milliseconds(300))
        let room = try await redis.room(lounge, users: [], withTyping: true, mostMembers: 0)
        #expect(room.typists == (room.time < ends ? [.init(user: alice, expiry: ends, name: nil)] : []))
        try await redis.wait(until: ends)
        #expect(try await redis.typists().isEmpty, "past its score")
        try await redis.wait(until: ends.advanced(by: .milliseconds(2)))
        #expect(try await redis.keys().isEmpty)
    }

    @Test(arguments: Party.allCases) func whatADeviceDoesIsToldAndKeptAsLongAsItsSignal(party: Party) async throws {
        let redis = try await party.open()
        let ends = try await redis.time().advanced(by: .seconds(20))
        _ = try await redis.signal(alice, until: ends, kind: .recording)
        #expect(try await redis.typingHeard().map(\.kind) == [.recording])
        #expect(try await redis.typists().map(\.kind) == [.recording])
        let kinds = try await redis.keys()["kinds:{lounge}"]
        #expect(kinds?.content == ["alice phone=recording \(ends.milliseconds)"])
        #expect(try #require(kinds?.expires) >= ends)
        _ = try await redis.signal(alice, tablet, until: ends.advanced(by: .seconds(1)))
        #expect(try await redis.typingHeard().map(\.kind) == [.typing], "the device that ends last counts")
        #expect(try await redis.typists().map(\.kind) == [.typing])
        _ = try await redis.stop(alice, tablet, until: ends.advanced(by: .seconds(1)))
        #expect(try await redis.typingHeard().map(\.kind) == [.recording])
        _ = try await redis.signal(alice, until: ends.advanced(by: .seconds(2)))
        #expect(
            try await redis.typingHeard().map(\.kind) == [.typing], "a plain signal ends it, and writes nothing more")
        #expect(try await redis.typists().map(\.kind) == [.typing])
        _ = try await redis.signal(alice, until: ends.advanced(by: .seconds(3)), kind: .thinking)
        _ = try await redis.stop(alice, until: ends.advanced(by: .seconds(3)), kind: .thinking)
        #expect(try await redis.keys().isEmpty, "its stop removes what is stored of it")
    }

    @Test("what a server says replaces what servers said before, and is renewed and ended only as such")
    func server() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(typingExpiry: .seconds(60)))
        func says(_ mark: UInt64, _ step: ServerTypingStep, _ kind: TypingKind = .typing) async throws -> TypingOutcome
        {
            let signal = TypingSignal(
                user: alice, device: .ofServer(mark: mark), conversation: lounge, expiry: .never, kind: kind)
            return try await store.call { $0.serverTypes(signal, step, reply: $1) }
        }
        func devices() async throws -> String? { try await store.keys()[string]?.content.first }
        #expect(try await says(1, .begin, .thinking) == .typing)
        #expect(try await devices() == "{http}1")
        #expect(try await store.keys()["kinds:{lounge}"]?.content.first?.hasPrefix("alice {http}1=thinking ") == true)
        #expect(try await says(2, .begin) == .typing)
        #expect(try await devices() == "{http}2")
        #expect(try await says(1, .renew) == .late, "another worker was told something else")
        #expect(try await says(2, .renew) == .typing)
        _ = try await store.signal(alice)
        #expect(try await says(9, .end) == .typing)
        #expect(try await devices() == "phone", "a device goes on")
        #expect(try await says(2, .renew) == .late)
        _ = try await store.stop(alice)
        #expect(try await says(9, .end) == .typing, "with nothing to end")
        #expect(try await store.keys().isEmpty)
        try await store.call { $0.setMembers([bob: "Bob"], of: lounge, reply: $1) }
        #expect(try await says(3, .begin) == .notAMember)
        try await store.command("SET", "kinds:{lounge}", "something else")
        try await store.call { $0.setMember(alice, name: "Alice", of: lounge, reply: $1) }
        #expect(try await says(4, .begin, .uploading) == .typing, "a foreign key costs the kind")
        let room = try await store.call { $0.room(lounge, users: [], withTyping: true, mostMembers: 0, reply: $1) }
        #expect(room.typists.map(\.name) == ["Alice"])
    }

    @Test(arguments: Party.allCases) func aSignalAfterItsExpiryDoesNothing(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await redis.signal(alice, until: redis.time()) == .late)
        #expect(try await redis.keys().isEmpty)
        #expect(try await redis.published().isEmpty)
    }

    @Test(arguments: Party.allCases) func ofSignalsThatOvertakeEachOtherTheLaterEndCounts(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        let (sooner, later) = (time.advanced(by: .seconds(20)), time.advanced(by: .seconds(40)))
        _ = try await redis.signal(alice, until: later)
        #expect(try await redis.signal(alice, until: sooner) == .typing)
        #expect(try await redis.typists().map(\.expiry) == [later])
        #expect(try await redis.stop(alice, until: sooner) == .late)
        #expect(try await redis.stop(alice, until: later) == .stopped)
        #expect(try await redis.stop(alice, until: later) == .stopped, "it follows Redis's own expiry")
        #expect(try await redis.typingHeard().map(\.typing) == [true, true, false, false])
        #expect(try await redis.keys().isEmpty)
    }

    @Test(arguments: Party.allCases) func aUserTypesWhileAnyDeviceDoes(party: Party) async throws {
        let redis = try await party.open()
        try await redis.setMembers([alice: "Alice"], of: lounge)
        let time = try await redis.time()
        let (sooner, later) = (time.advanced(by: .seconds(20)), time.advanced(by: .seconds(40)))
        _ = try await redis.signal(alice, phone, until: sooner)
        _ = try await redis.signal(alice, tablet, until: later)
        #expect(try await redis.keys()[string]?.content == ["tablet phone"])
        #expect(try await redis.stop(alice, tablet, until: later) == .stopped)
        let heard = try await redis.typingHeard()
        #expect(heard.map(\.typing) == [true, true, true] && heard.map(\.name) == Array(repeating: "Alice", count: 3))
        let left = heard.last.map { sooner.since($0.at).milliseconds }
        #expect(heard.last?.expiresIn == left)
        #expect(try await redis.keys()[string]?.content == ["phone"])
        #expect(try await redis.stop(alice, phone, until: later) == .stopped)
        #expect(try await redis.typingHeard().map(\.typing) == [false])
    }

    @Test(arguments: Party.allCases) func theFirstMemberEndsTheTypingOfTheOthers(party: Party) async throws {
        let redis = try await party.open()
        for device in [phone, tablet] { _ = try await redis.signal(alice, device) }
        _ = try await redis.signal(bob)
        _ = try await redis.published()
        try await redis.setMember(bob, name: "Bob", of: lounge)
        let heard = try await redis.published()
        #expect(heard.first == .members(.reset, of: lounge) && heard.count == 3)
        #expect(heard.last == .members(.member(bob, name: "Bob", count: 1), of: lounge))
        #expect(heard.typing.map(\.user) == [alice] && heard.typing.map(\.typing) == [false])
        #expect(try await redis.typists().map(\.user) == [bob])
        #expect(try await redis.signal(alice, isOpen: true) == .notAMember)
        #expect(try await redis.keys()[set]?.content.count == 1)
    }

    @Test(arguments: Party.allCases) func aRemovedMemberVanishesMidTyping(party: Party) async throws {
        let redis = try await party.open()
        try await redis.removeMember(alice, of: lounge)
        #expect(try await redis.published().isEmpty, "nobody is removed where nothing is managed")
        try await redis.setMembers([alice: "Alice", bob: ""], of: lounge)
        _ = try await redis.signal(alice)
        #expect(try await redis.typists().map(\.name) == ["Alice"])
        _ = try await redis.published()
        try await redis.removeMember(alice, of: lounge)
        let heard = try await redis.published()
        #expect(heard.typing.map(\.typing) == [false] && heard.last == .members(.removed(alice, count: 1), of: lounge))
        #expect(try await redis.members(of: lounge) == [bob: ""])
        let room = try await redis.room(lounge, users: [alice, bob], withTyping: true, mostMembers: 100)
        #expect(room.isManaged && room.admitted == [bob] && room.typists.isEmpty && room.members == [bob: ""])
        try await redis.removeMember(bob, of: lounge)
        #expect(try await redis.members(of: lounge) == [:], "it stays managed")
    }

    @Test(arguments: Party.allCases, [true, false])
    func withoutManagementTheSessionsRightDecides(party: Party, isOpen: Bool) async throws {
        let redis = try await party.open(.init(typingExpiry: .seconds(60)))
        try await redis.setMembers([bob: "Bob"], of: lounge)
        _ = try await redis.signal(bob)
        _ = try await redis.published()
        try await redis.deleteMembers(of: lounge)
        #expect(try await redis.published() == [.members(.reset, of: lounge)])
        let room = try await redis.room(lounge, users: [alice, bob], withTyping: true, mostMembers: 100)
        #expect(!room.isManaged && room.admitted.isEmpty && room.members == nil && room.typists.map(\.user) == [bob])
        #expect(try await redis.signal(alice, isOpen: isOpen) == (isOpen ? .typing : .notAMember))
    }
}

extension Contract {
    func signal(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp = .never, isOpen: Bool = true,
        kind: TypingKind = .typing
    ) async throws -> TypingOutcome {
        let signal = TypingSignal(user: user, device: device, conversation: lounge, expiry: expiry, kind: kind)
        return try await signalTyping(signal, isOpen: isOpen)
    }

    func stop(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp, kind: TypingKind = .typing
    ) async throws -> TypingStopOutcome {
        try await stopTyping(
            TypingSignal(user: user, device: device, conversation: lounge, expiry: expiry, kind: kind))
    }

    func typists() async throws -> [RoomSnapshot.Entry] {
        try await room(lounge, users: [], withTyping: true, mostMembers: 0).typists
    }

    func typingHeard() async throws -> [TypingChange] { try await published().typing }
}

extension [Published] {
    var typing: [TypingChange] {
        compactMap { if case .typing(let change, _) = $0 { change } else { nil } }
    }
}
