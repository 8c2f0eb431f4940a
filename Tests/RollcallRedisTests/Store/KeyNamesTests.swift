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
}
