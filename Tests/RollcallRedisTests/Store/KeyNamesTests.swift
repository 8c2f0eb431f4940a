import RollcallModel
import RollcallRedis
import Testing

@Suite struct KeyNamesTests {
    @Test func namesAreThoseOfTheContract() {
        let names = KeyNames()
        #expect(names.typing(lounge, alice) == "typing:{lounge}:alice")
        #expect(names.typing(lounge) == "typing:{lounge}")
        #expect(names.presence(alice) == "presence:{alice}")
        #expect(names.members(lounge) == "members:{lounge}")
        #expect(names.workers == "{workers}")
        #expect(names.worker(w1) == "{workers}:w1.aaaa")
        #expect(names.sessions(w1) == "worker:{w1.aaaa}:sessions")
        #expect(names.sweeper(w1) == "worker:{w1.aaaa}:sweeper")
    }

    @Test func thePrefixStandsBeforeEveryName() {
        let names = KeyNames(prefix: "app:")
        #expect(names.workers == "app:{workers}")
        #expect(names.typing(lounge, alice) == "app:typing:{lounge}:alice")
        #expect(names.channel(of: .worker(w1)) == "app:worker:{w1.aaaa}")
    }

    @Test(arguments: ["", "app:", "é:"]) func aChannelNamesItsTopic(prefix: String) {
        let names = KeyNames(prefix: prefix)
        for topic in [Topic.typing(lounge), .members(lounge), .presence(user("cafe\u{301}")), .worker(w1)] {
            #expect(names.topic(of: names.channel(of: topic)) == topic)
        }
    }

    @Test func aNameThatBeginsWithACombiningMarkIsReadBack() {
        let strange = user("\u{301}x")
        #expect(KeyNames(prefix: "e").topic(of: "epresence:{\u{301}x}") == .presence(strange))
    }

    @Test(arguments: [
        "", "typing:", "typing:{}", "typing:{lounge", "typing:{lounge}:alice", "typing:lounge}", "other:{lounge}",
        "xtyping:{lounge}", "typing:{a b}", "typing:{a}b}", "worker:{}", "worker:{w1.aaaa}:sessions", "{workers}",
    ])
    func whatIsNoChannelOfOursHasNoTopic(channel: String) {
        #expect(KeyNames().topic(of: channel) == nil)
    }

    @Test func aChannelOfAnotherPrefixHasNoTopic() {
        #expect(KeyNames(prefix: "app:").topic(of: "typing:{lounge}") == nil)
        #expect(KeyNames(prefix: "e\u{301}:").topic(of: "\u{e9}:typing:{lounge}") == nil)
    }
}
