import RollcallRedis
import Testing

@Suite("What an error of Redis means")
struct RedisErrorTests {
    @Test(
        "Redis refuses writes and answers reads",
        arguments: ["MISCONF", "NOREPLICAS", "OOM", "READONLY"])
    func refusesWrites(kind: String) {
        let error = RedisError(.server(kind: kind), "")
        #expect(error.refusesWrites && error.hadNoEffect)
    }

    /// A worker of a cluster that was down went on reading, and said that Redis refused writes.
    @Test(
        "what refuses reads as well does not count as refused writes, and had no effect",
        arguments: ["CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED"])
    func refusesAll(kind: String) {
        let error = RedisError(.server(kind: kind), "")
        #expect(!error.refusesWrites && error.hadNoEffect)
    }
}
