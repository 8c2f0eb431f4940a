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
        // A script may be held up between its `TIME` and the command from which Redis counts a key's time.
        let keys = try await redis.keys().values.map(\.expires)
        #expect(keys.allSatisfy { $0.map { $0 >= ends && $0 < ends.advanced(by: .seconds(5)) } == true })
        try await redis.wait(until: ends)
        #expect(try await redis.typists().isEmpty, "past its score")
        try await redis.wait(until: (keys.compactMap(\.self).max() ?? ends).advanced(by: .milliseconds(2)))
        #expect(try await redis.keys().isEmpty)
    }

    @Test(arguments: Party.allCases) func whatADeviceDoesIsToldAndKeptAsLongAsItsSignal(party: Party) async throws {
        let redis = try await party.open()
        let ends = try await redis.time().advanced(by: .seconds(20))
        func devices() async throws -> String? { try await redis.keys()[string]?.content.first }
        _ = try await redis.signal(alice, until: ends, kind: .recording)
        #expect(try await redis.typingHeard().map(\.kind) == [.recording])
        #expect(try await redis.typists().map(\.kind) == [.recording])
        #expect(try await devices() == "phone{recording}")
        _ = try await redis.signal(alice, tablet, until: ends.advanced(by: .seconds(1)))
        #expect(try await redis.typingHeard().map(\.kind) == [.typing], "the device that ends last counts")
        #expect(try await redis.typists().map(\.kind) == [.typing])
        #expect(try await devices() == "tablet phone{recording}")
        _ = try await redis.stop(alice, tablet, until: ends.advanced(by: .seconds(1)))
        #expect(try await redis.typingHeard().map(\.kind) == [.recording])
        for (older, kind) in [(1, TypingKind.typing), (1, .thinking), (0, .typing)] {
            _ = try await redis.signal(alice, until: ends.advanced(by: .seconds(-older)), kind: kind)
            #expect(try await redis.typingHeard().map(\.kind) == [.recording], "an older signal changes nothing")
            #expect(try await devices() == "phone{recording}")
        }
        _ = try await redis.signal(alice, until: ends.advanced(by: .seconds(2)))
        #expect(try await redis.typingHeard().map(\.kind) == [.typing])
        #expect(try await redis.typists().map(\.kind) == [.typing])
        #expect(try await devices() == "phone")
        _ = try await redis.signal(alice, until: ends.advanced(by: .seconds(3)), kind: .thinking)
        _ = try await redis.stop(alice, until: ends.advanced(by: .seconds(3)))
        #expect(try await redis.keys().isEmpty)
    }

    @Test(
        "names of devices that look like kinds, and names of users with anything in them, are read as they were written",
        arguments: Party.allCases, ["Ada {recording}", "{http}1 phone", "\u{202F}\"A\\da\"", "a  b{typing}"])
    func words(party: Party, name: String) async throws {
        let redis = try await party.open(.init(typingExpiry: .seconds(60)))
        let (ada, devices) = (Profile(name: ByteString(name)).name, ["recording", "thinking", "-_.:typing", "{http}7"])
        let ends = try await redis.time().advanced(by: .seconds(20))
        for (index, device) in devices.enumerated() {
            let device = device == "{http}7" ? DeviceID.ofServer(mark: 7) : try DeviceID(device)
            _ = try await redis.signal(
                alice, device, until: ends.advanced(by: .seconds(index)), kind: TypingKind.allCases[index], name: ada)
        }
        #expect(
            try await redis.keys()[string]?.content == [
                "{http}7{thinking} -_.:typing{uploading} thinking{recording} recording\t\(ada!)"
            ])
        #expect(
            try await redis.typists() == [
                .init(user: alice, expiry: ends.advanced(by: .seconds(3)), name: ada, kind: .thinking)
            ])
        _ = try await redis.stop(alice, .ofServer(mark: 7), until: .never)
        #expect(
            try await redis.typists() == [
                .init(user: alice, expiry: ends.advanced(by: .seconds(2)), name: ada, kind: .uploading)
            ])
        #expect(try await redis.typingHeard().last?.name == ada)
        try await redis.setMembers([alice: "", bob: ""], of: lounge)
        #expect(try await redis.typists().map(\.name) == [ada], "a member without a name has that of the token")
        try await redis.setMembers([alice: "Alice", bob: ""], of: lounge)
        #expect(try await redis.typists().map(\.name) == ["Alice"])
        _ = try await redis.published()
        try await redis.removeMember(alice, of: lounge)
        #expect(try await redis.keys()[set] == nil, "whatever a device does, it ends with the membership")
    }

    @Test("a typist keeps the name with which they began, of whatever device", arguments: Party.allCases)
    func began(party: Party) async throws {
        let redis = try await party.open()
        let ends = try await redis.time().advanced(by: .seconds(20))
        func says(_ device: DeviceID, _ name: ByteString?, after seconds: Int) async throws -> ByteString? {
            _ = try await redis.signal(alice, device, until: ends.advanced(by: .seconds(seconds)), name: name)
            #expect(
                try await redis.typists().map(\.name) == [
                    try await redis.keys()[string]?.content.first?.split(separator: "\t").dropFirst().first.map {
                        ByteString(String($0))
                    }
                ])
            return try await redis.typingHeard().last?.name
        }
        #expect(try await says(phone, nil, after: 0) == nil)
        #expect(try await says(phone, "Ada", after: 1) == "Ada", "a name that was missing")
        #expect(try await says(phone, "Adele", after: 2) == "Ada")
        #expect(try await says(tablet, "Addie", after: 3) == "Ada")
        #expect(try await says(tablet, nil, after: 4) == "Ada")
        _ = try await redis.stop(alice, phone, until: .never)
        #expect(try await redis.typingHeard().last?.name == "Ada")
        _ = try await redis.stop(alice, tablet, until: .never)
        #expect(try await says(tablet, "Addie", after: 5) == "Addie", "who begins again has the name of now")
    }

    @Test("what a server says replaces what servers said before, and is renewed and ended only as such")
    func server() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(typingExpiry: .seconds(60)))
        func says(
            _ mark: UInt64, _ step: ServerTypingStep, _ kind: TypingKind = .typing, name: ByteString? = nil
        ) async throws -> TypingOutcome {
            let signal = TypingSignal(
                user: alice, device: .ofServer(mark: mark), conversation: lounge, expiry: .never, kind: kind, name: name
            )
            return try await store.call { $0.serverTypes(signal, step, reply: $1) }
        }
        func devices() async throws -> String? { try await store.keys()[string]?.content.first }
        #expect(try await says(1, .begin, .thinking) == .typing)
        #expect(try await devices() == "{http}1{thinking}")
        #expect(try await says(2, .begin, name: "Bot") == .typing)
        #expect(try await devices() == "{http}2\tBot")
        #expect(try await says(1, .renew) == .late, "another worker was told something else")
        #expect(try await says(2, .renew, .uploading, name: "Bot") == .typing)
        #expect(try await devices() == "{http}2{uploading}\tBot")
        let ada = TypingSignal(user: alice, device: phone, conversation: lounge, expiry: .never, name: "Ada")
        _ = try await store.call { $0.signalTyping(ada, isOpen: true, reply: $1) }
        #expect(try await says(9, .end) == .typing)
        #expect(try await devices() == "phone\tBot", "a device goes on")
        #expect(try await says(2, .renew) == .late)
        _ = try await store.call { $0.stopTyping(ada, reply: $1) }
        #expect(try await says(9, .end) == .typing, "with nothing to end")
        #expect(try await store.keys().isEmpty)
        try await store.call { $0.setMembers([bob: "Bob"], of: lounge, reply: $1) }
        #expect(try await says(3, .begin) == .notAMember)
        try await store.call { $0.setMember(alice, name: "Alice", of: lounge, reply: $1) }
        #expect(try await says(4, .begin, .uploading, name: "Bot") == .typing)
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
        kind: TypingKind = .typing, name: ByteString? = nil
    ) async throws -> TypingOutcome {
        let signal = TypingSignal(
            user: user, device: device, conversation: lounge, expiry: expiry, kind: kind, name: name)
        return try await signalTyping(signal, isOpen: isOpen)
    }

    func stop(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp
    ) async throws -> TypingStopOutcome {
        try await stopTyping(TypingSignal(user: user, device: device, conversation: lounge, expiry: expiry))
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
