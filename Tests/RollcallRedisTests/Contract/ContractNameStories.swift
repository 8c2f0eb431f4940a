// What tokens say of their user, told to a real Redis and to its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

@Suite(.serialized) struct ContractNameStories {
    private func record(_ redis: any Contract) async throws -> PresenceRecord {
        try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
    }

    private func write(
        _ session: Session, _ state: DeviceState?, _ sequence: Int64, name: String? = nil, issued: Timestamp?
    ) -> DeviceWrite {
        var write = session.says(state, sequence)
        write.issued = issued
        write.profile = Profile(name: name.map(ByteString.init))
        return write
    }

    private func named(_ redis: any Contract) async throws -> String? {
        let published = try await redis.published()
        guard case .presence(let change, _)? = published.last else { return nil }
        #expect(change.visible.name == (try await record(redis)).presence(past: [:]).name)
        return change.visible.name
    }

    @Test(
        "a name is stored, published and read as it is, and stays when its user goes", arguments: Party.allCases,
        ["Ada", "Zoë \u{1F469}\u{200D}\u{1F52C} \"q\" \\ é", String(repeating: "ß", count: 64)])
    func stored(party: Party, name: String) async throws {
        let redis = try await party.open()
        let issued = try await redis.time()
        _ = try await redis.write(write(Session("aa"), .active, 1, name: name, issued: issued))
        #expect(try await named(redis) == name)
        _ = try await redis.write(write(Session("aa"), nil, 2, issued: issued))
        #expect(try await named(redis) == name)
        // Who is in the background, or swept, says nothing of their name, and takes none.
        _ = try await redis.write(write(Session("bb", device: tablet), .background, 1, issued: issued))
        #expect(try await record(redis).presence(past: [:]).name == name)
        _ = try await redis.write(write(Session("cc", device: tablet), .idle, 1, issued: issued))
        _ = try await redis.published()
        let swept = Session("cc", device: tablet).name
        #expect(try await redis.sweep(swept, of: w1, lastBeat: try await redis.time(), until: .never) == .swept)
        #expect(try await named(redis) == name)
    }

    @Test(
        "of two tokens the later one counts, of equal ones the last written, and one without a name changes nothing",
        arguments: Party.allCases)
    func later(party: Party) async throws {
        let redis = try await party.open()
        let now = try await redis.time()
        let (early, late) = (now.advanced(by: .seconds(-60)), now.advanced(by: .seconds(-30)))
        _ = try await redis.write(write(Session("aa"), .active, 1, name: "Ada", issued: late))
        #expect(try await named(redis) == "Ada")
        _ = try await redis.write(write(Session("bb", device: tablet), .active, 1, name: "Adele", issued: early))
        #expect(try await named(redis) == "Ada")
        _ = try await redis.write(write(Session("bb", device: tablet), .idle, 2, issued: now))
        #expect(try await named(redis) == "Ada")
        _ = try await redis.write(write(Session("bb", device: tablet), .active, 3, name: "Addie", issued: late))
        #expect(try await named(redis) == "Addie")
        _ = try await redis.write(write(Session("aa"), .idle, 2, name: "Ada", issued: early))
        #expect(try await named(redis) == "Addie", "nor does it flip")
    }

    @Test(
        "a renewal that says another name is a change that observers see, with the same state",
        arguments: Party.allCases)
    func renewed(party: Party) async throws {
        let redis = try await party.open()
        let issued = try await redis.time()
        let began = try await redis.write(write(Session("aa"), .active, 1, name: "Ada", issued: issued)).began
        let version = try await record(redis).version
        _ = try await redis.published()
        let session = Session("aa", began: began)
        _ = try await redis.write(write(session, .active, 2, name: "Ada L.", issued: issued.advanced(by: .seconds(1))))
        #expect(try await named(redis) == "Ada L.")
        #expect(try await record(redis).version > version)
    }

    @Test("the scripts know the fields that the protocol has") func fields() {
        let names = Profile.fields.map { "'\($0.name)'" }.joined(separator: ", ")
        #expect(Script.deviceWrite.source.contains("local PROFILE = { \(names) }"))
    }

    @Test("a user who is erased has no name, also when they come back without one")
    func erased() async throws {
        let store = try await StoreUnderTest()
        func fields() async throws -> [String] {
            try await store.keys()["presence:{alice}"]?.content.filter { $0.hasPrefix("name") } ?? []
        }
        _ = try await store.write(write(Session("aa"), .active, 1, name: "Ada", issued: nil))
        #expect(try await fields().map { $0.prefix { $0 != "=" } } == ["name", "named"])
        _ = try await store.write(write(Session("aa"), nil, 2, issued: nil))
        let report = try await store.call { $0.report(on: alice, own: w1, reply: $1) }
        #expect(try await store.call { $0.erase(report, reply: $1) })
        _ = try await store.write(write(Session("bb"), .active, 1, issued: nil))
        #expect(try await fields().isEmpty)
    }

    @Test("a user never seen has no name", arguments: Party.allCases)
    func unseen(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.write(write(Session("aa"), .background, 1, name: "Ada", issued: try await redis.time()))
        #expect(try await record(redis).presence(past: [:]).name == nil)
    }
}
