// The buffer between the client and one reader.

import Testing

@testable import RollcallClient

@Suite struct MailboxTests {
    private let mailbox = Mailbox<Int>()
    private let received = Locked<[Int?]>([])

    private func read() {
        mailbox.read { value in received.withLock { $0.append(value) } }
    }

    private var values: [Int?] { received.withLock { $0 } }

    @Test("a slow reader gets the newest value, not all of them")
    func newest() {
        for value in 1...1000 { mailbox.put(value) }
        read()
        #expect(values == [1000])
    }

    @Test("a waiting reader gets the next value")
    func waits() {
        read()
        #expect(values == [])
        mailbox.put(1)
        mailbox.put(2)
        #expect(values == [1])
    }

    @Test("the last value can still be read after the end, and nothing after it")
    func last() {
        mailbox.put(1)
        mailbox.finish()
        mailbox.put(2)
        for _ in 1...3 { read() }
        #expect(values == [1, nil, nil])
    }

    @Test("a waiting reader is answered by the end")
    func end() {
        read()
        mailbox.finish()
        #expect(values == [nil])
    }
}
