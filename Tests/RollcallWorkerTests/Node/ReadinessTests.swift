// When a worker should receive new devices.

import RollcallProtocol
import Testing

@testable import RollcallServer

@Suite struct ReadinessTests {
    private let start = ContinuousClock.now
    private var readiness = Readiness(patience: .seconds(30))
    private let incarnation = Incarnation(name: "w1.a")

    @Test("a worker is ready from its first lease on")
    func beginning() {
        var readiness = readiness
        #expect(!readiness.isReady(at: start) && !readiness.holdsLease)
        readiness.began(incarnation, at: start)
        #expect(readiness.isReady(at: start) && readiness.holdsLease)
    }

    @Test("a worker stays ready for a while without Redis, and that time starts again after each outage")
    func outage() {
        var readiness = readiness
        readiness.began(incarnation, at: start)
        readiness.renewed(at: start + .seconds(10))
        readiness.lost()
        #expect(readiness.isReady(at: start + .seconds(40)) && !readiness.holdsLease)
        #expect(!readiness.isReady(at: start + .seconds(41)))
        readiness.began(Incarnation(name: "w1.b"), at: start + .seconds(50))
        #expect(readiness.isReady(at: start + .seconds(50)) && readiness.incarnation?.name == "w1.b")
    }

    @Test("a Redis that refuses writes is tolerated as long as one that is away")
    func refusedWrites() {
        var readiness = readiness
        readiness.began(incarnation, at: start)
        readiness.heartbeatsFail()
        #expect(readiness.isReady(at: start + .seconds(30)) && !readiness.holdsLease)
        #expect(!readiness.isReady(at: start + .seconds(31)))
        readiness.renewed(at: start + .seconds(32))
        #expect(readiness.isReady(at: start + .seconds(32)) && readiness.holdsLease)
    }

    @Test("a worker that is stopping is not ready any more, even with a new lease")
    func leaving() {
        var readiness = readiness
        readiness.began(incarnation, at: start)
        readiness.left()
        #expect(!readiness.isReady(at: start) && readiness.holdsLease)
        readiness.lost()
        readiness.began(Incarnation(name: "w1.b"), at: start)
        readiness.renewed(at: start)
        #expect(!readiness.isReady(at: start) && readiness.holdsLease)
    }
}
