import RollcallRedis
import Testing

@Suite("The meaning of Redis errors")
struct RedisErrorTests {
    @Test(
        "Redis refuses writes but answers reads",
        arguments: ["MISCONF", "NOREPLICAS", "OOM", "READONLY"])
    func refusesWrites(kind: String) {
        let error = RedisError(.server(kind: kind), "")
        #expect(error.refusesWrites && error.hadNoEffect)
    }

    /// Regression: a worker of a cluster that was down continued to read, and reported that Redis refused writes.
    @Test(
        "errors that also refuse reads do not count as refused writes, and had no effect",
        arguments: ["CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED"])
    func refusesAll(kind: String) {
        let error = RedisError(.server(kind: kind), "")
        #expect(!error.refusesWrites && error.hadNoEffect)
    }
}
