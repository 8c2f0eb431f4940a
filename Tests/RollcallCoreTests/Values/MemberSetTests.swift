import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct MemberSetTests {
    private var members = MemberSet()

    private mutating func read(_ users: Set<UserID>) {
        members.readBegan()
        members.snapshotRead(users)
    }

    @Test("nothing is known before the first read, and no change is news before it")
    mutating func unknown() {
        let isNews = members.changed("alice", isMember: true)
        #expect(members.users == nil && !isNews)
    }

    @Test("a change is news once")
    mutating func news() {
        read(["alice"])
        let news = [
            members.changed("alice", isMember: true), members.changed("bob", isMember: true),
            members.changed("bob", isMember: true), members.changed("alice", isMember: false),
            members.changed("carol", isMember: false),
        ]
        #expect(news == [false, true, false, true, false])
        #expect(members.users == ["bob"])
    }

    @Test("what is heard while a read is under way stands above it, the last word of each user")
    mutating func heardMeanwhile() {
        members.readBegan()
        for (user, isMember) in [("alice", false), ("bob", true), ("carol", true), ("carol", false)] as [(UserID, Bool)]
        {
            _ = members.changed(user, isMember: isMember)
        }
        members.snapshotRead(["alice", "carol", "dave"])
        #expect(members.users == ["bob", "dave"])
    }

    @Test("what was heard is remembered until the last of overlapping reads is over, and no longer")
    mutating func overlapping() {
        members.readBegan()
        members.readBegan()
        _ = members.changed("alice", isMember: false)
        members.snapshotRead(["alice"])
        #expect(members.users == [])
        members.snapshotRead(["alice", "bob"])
        #expect(members.users == ["bob"])
        read(["alice"])
        #expect(members.users == ["alice"])
    }

    @Test("a read that failed changes nothing, and ends the memory with it")
    mutating func failed() {
        read(["alice"])
        members.readBegan()
        _ = members.changed("alice", isMember: false)
        members.readFailed()
        #expect(members.users == [])
        read(["alice"])
        #expect(members.users == ["alice"])
    }

    @Test("what is forgotten is unknown until it is read again")
    mutating func forgotten() {
        read(["alice"])
        members.forget()
        let isNews = members.changed("bob", isMember: true)
        #expect(members.users == nil && !isNews)
        read(["carol"])
        #expect(members.users == ["carol"])
    }
}
