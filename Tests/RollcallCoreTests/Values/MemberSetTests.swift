import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct MemberSetTests {
    private var members = MemberSet()

    private mutating func read(_ users: [UserID: String]) {
        members.readBegan()
        members.snapshotRead(users)
    }

    @Test("nothing is known before the first read, whatever is heard")
    mutating func unknown() {
        members.changed("alice", to: "Alice")
        #expect(members.names == nil)
    }

    @Test("members come, change their names and go")
    mutating func changes() {
        read(["alice": "Alice"])
        members.changed("bob", to: "Bob")
        members.changed("bob", to: "Robert")
        members.changed("alice", to: nil)
        members.changed("carol", to: nil)
        #expect(members.names == ["bob": "Robert"])
    }

    @Test("what is heard while a read is under way stands above it, the last word of each user")
    mutating func heardMeanwhile() {
        members.readBegan()
        for (user, name) in [("alice", nil), ("bob", "Bob"), ("carol", "Carol"), ("carol", nil)] as [(UserID, String?)]
        {
            members.changed(user, to: name)
        }
        members.snapshotRead(["alice": "Alice", "carol": "Carol", "dave": "Dave"])
        #expect(members.names == ["bob": "Bob", "dave": "Dave"])
    }

    @Test("what was heard is remembered until the last of overlapping reads is over, and no longer")
    mutating func overlapping() {
        members.readBegan()
        members.readBegan()
        members.changed("alice", to: nil)
        members.snapshotRead(["alice": "Alice"])
        #expect(members.names == [:])
        members.snapshotRead(["alice": "Alice", "bob": "Bob"])
        #expect(members.names == ["bob": "Bob"])
        read(["alice": "Alice"])
        #expect(members.names == ["alice": "Alice"])
    }

    @Test("a read that failed changes nothing, and ends the memory with it")
    mutating func failed() {
        read(["alice": "Alice"])
        members.readBegan()
        members.changed("alice", to: nil)
        members.readFailed()
        #expect(members.names == [:])
        read(["alice": "Alice"])
        #expect(members.names == ["alice": "Alice"])
    }

    @Test("what is forgotten is unknown until it is read again")
    mutating func forgotten() {
        read(["alice": "Alice"])
        members.forget()
        members.changed("bob", to: "Bob")
        #expect(members.names == nil)
        read(["carol": "Carol"])
        #expect(members.names == ["carol": "Carol"])
    }
}
