// The buffer between the client and one reader.

import RollcallProtocol
import Testing

@testable import RollcallClient

@Suite struct MailboxTests {
    private let mailbox = Mailbox<Int>()

    @Test("a slow reader gets the newest value, not all of them")
    func newest() async {
        for value in 1...1000 { mailbox.put(value) }
        #expect(await mailbox.next(isolation: nil) == 1000)
    }

    @Test("a waiting reader gets the next value", .timeLimit(.minutes(1)))
    func waits() async {
        async let value = mailbox.next(isolation: nil)
        try? await Task.sleep(for: .milliseconds(5))
        mailbox.put(1)
        #expect(await value == 1)
    }

    @Test("the last value can still be read after the end, and nothing after it", .timeLimit(.minutes(1)))
    func last() async {
        mailbox.put(1)
        mailbox.finish()
        mailbox.put(2)
        #expect(await mailbox.next(isolation: nil) == 1)
        #expect(await mailbox.next(isolation: nil) == nil)
        #expect(await mailbox.next(isolation: nil) == nil)
    }

    @Test("a waiting reader is resumed by the end", .timeLimit(.minutes(1)))
    func end() async {
        async let value = mailbox.next(isolation: nil)
        try? await Task.sleep(for: .milliseconds(5))
        mailbox.finish()
        #expect(await value == nil)
    }
}
