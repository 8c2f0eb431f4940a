import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct MemberSetTests {
    private var members = MemberSet()

    private mutating func read(_ users: [UserID: String]) {
        members.readBegan()
        members.snapshotRead(users, count: users.count, most: 100)
    }

    @Test("nothing is known before the first read, whatever is heard")
    mutating func unknown() {
        members.changed("alice", to: "Alice", count: nil)
        #expect(members.names == nil)
    }

    @Test("members come, change their names and go")
    mutating func changes() {
        read(["alice": "Alice"])
        members.changed("bob", to: "Bob", count: nil)
        members.changed("bob", to: "Robert", count: nil)
        members.changed("alice", to: nil, count: nil)
        members.changed("carol", to: nil, count: nil)
        #expect(members.names == ["bob": "Robert"])
    }

    @Test("what is heard while a read is under way stands above it, the last word of each user")
    mutating func heardMeanwhile() {
        members.readBegan()
        for (user, name) in [("alice", nil), ("bob", "Bob"), ("carol", "Carol"), ("carol", nil)] as [(UserID, String?)]
        {
            members.changed(user, to: name, count: nil)
        }
        members.snapshotRead(["alice": "Alice", "carol": "Carol", "dave": "Dave"], count: 3, most: 100)
        #expect(members.names == ["bob": "Bob", "dave": "Dave"])
    }

    @Test("what was heard is remembered until the last of overlapping reads is over, and no longer")
    mutating func overlapping() {
        members.readBegan()
        members.readBegan()
        members.changed("alice", to: nil, count: nil)
        members.snapshotRead(["alice": "Alice"], count: 1, most: 100)
        #expect(members.names == [:])
        members.snapshotRead(["alice": "Alice", "bob": "Bob"], count: 2, most: 100)
        #expect(members.names == ["bob": "Bob"])
        read(["alice": "Alice"])
        #expect(members.names == ["alice": "Alice"])
    }

    @Test("a read that failed changes nothing, and ends the memory with it")
    mutating func failed() {
        read(["alice": "Alice"])
        members.readBegan()
        members.changed("alice", to: nil, count: nil)
        members.readFailed()
        #expect(members.names == [:])
        read(["alice": "Alice"])
        #expect(members.names == ["alice": "Alice"])
    }

    @Test("where there are more than may be known, so many are known, and all counted")
    mutating func many() {
        members.readBegan()
        members.snapshotRead(["alice": "Alice", "bob": "Bob"], count: 2, most: 2)
        members.changed("carol", to: "Carol", count: 3)
        #expect(members.names == ["alice": "Alice", "bob": "Bob"] && members.count == 3)
        members.changed("alice", to: "Alicia", count: 3)
        members.changed("dave", to: "Dave", count: 4)
        members.changed("carol", to: nil, count: 3)
        #expect(members.names == ["alice": "Alicia", "bob": "Bob"] && members.count == 3)
        #expect(!members.hasFew(of: 2))
        members.changed("bob", to: nil, count: 2)
        #expect(members.names == ["alice": "Alicia"] && members.count == 2 && members.hasFew(of: 2))
        members.readBegan()
        #expect(!members.hasFew(of: 2), "more are being read")
        members.changed("erin", to: "Erin", count: 3)
        members.snapshotRead(["alice": "Alicia", "dave": "Dave"], count: 2, most: 2)
        #expect(members.count == 3, "the last that was heard counts")
        members.changed("alice", to: nil, count: 2)
        members.changed("erin", to: nil, count: 1)
        #expect(members.names == ["dave": "Dave"] && members.count == 1 && !members.hasFew(of: 2))
    }

    @Test("more are read when few are left, and all as soon as they may all be known")
    mutating func fewAreLeft() {
        let some = Dictionary(uniqueKeysWithValues: (0..<8).map { (try! UserID("u\($0)"), "") })
        members.readBegan()
        members.snapshotRead(some, count: 11, most: 8)
        for (number, hasFew) in [(0, false), (1, false), (2, true)] {
            members.changed(try! UserID("u\(number)"), to: nil, count: 10 - number)
            #expect(members.hasFew(of: 8) == hasFew, "\(number)")
        }
        members.readBegan()
        members.snapshotRead(some, count: 9, most: 8)
        members.changed("u0", to: nil, count: 8)
        #expect(members.hasFew(of: 8), "seven are known of eight who may be")
        members.readBegan()
        members.snapshotRead(some, count: 20, most: 8)
        members.changed("u0", to: nil, count: 19)
        members.changed("u1", to: nil, count: 18)
        #expect(!members.hasFew(of: 8))
        members.changed("u2", to: nil, count: 17)
        #expect(members.hasFew(of: 8))
    }

    @Test("where all are known, they are counted as they are known, whatever is told")
    mutating func few() {
        read(["alice": "Alice"])
        members.changed("bob", to: "Bob", count: nil)
        members.changed("carol", to: nil, count: nil)
        #expect(members.count == 2)
    }

    @Test("what is forgotten is unknown until it is read again")
    mutating func forgotten() {
        read(["alice": "Alice"])
        members.forget()
        members.changed("bob", to: "Bob", count: nil)
        #expect(members.names == nil)
        read(["carol": "Carol"])
        #expect(members.names == ["carol": "Carol"])
    }
}
