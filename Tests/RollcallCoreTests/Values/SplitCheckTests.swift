import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct SplitCheckTests {
    private var check = SplitCheck(of: w1)

    @Test("three reads in a row without the lease mean another Redis; clearing all keys, and less, do not")
    mutating func lease() {
        var answers: [Bool] = []
        for isFound in [true, false, false, true, false, false, false] {
            answers.append(check.leaseRead(isFound: isFound))
        }
        #expect(answers == [false, false, false, false, false, false, true])
    }

    @Test("three pings answered without a message before them mean another Redis")
    mutating func messages() {
        var answers: [Bool] = []
        for isHeard in [true, false, false, true, false, false, false] {
            _ = check.beginPing()
            if isHeard { check.messageArrived() }
            answers.append(check.pingAnswered())
        }
        #expect(answers == [false, false, false, false, false, false, true])
    }

    /// The messages of five heartbeats come late, each before the answer to the ping that was sent after it.
    @Test("a slow connection is not another Redis: a ping waits for the answer to the one before")
    mutating func slow() {
        for _ in 0..<10 {
            var sent: [Bool] = []
            for _ in 0..<5 { sent.append(check.beginPing()) }
            #expect(sent == [true, false, false, false, false])
            check.messageArrived()
            let isElsewhere = check.pingAnswered()
            #expect(!isElsewhere)
            for _ in 0..<4 { check.messageArrived() }
        }
    }

    @Test("after the loss of the connection, the next heartbeat looks again")
    mutating func lost() {
        var sent = [check.beginPing(), check.beginPing()]
        check.connectionLost()
        sent.append(check.beginPing())
        #expect(sent == [true, false, true])
    }
}
