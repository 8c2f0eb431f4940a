import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct MemberSetTests {
    private var members = MemberSet()

    private mutating func read(_ users: [UserID: ByteString]) {
        members.readBegan()
        members.snapshotRead(users, count: users.count, most: 100)
    }

    @Test("nothing is known before the first read, whatever changes are received")
    mutating func unknown() {
        members.changed("alice", to: "Alice", count: nil)
        #expect(members.names == nil)
    }

    @Test("members are added, renamed and removed")
    mutating func changes() {
        read(["alice": "Alice"])
        members.changed("bob", to: "Bob", count: nil)
        members.changed("bob", to: "Robert", count: nil)
        members.changed("alice", to: nil, count: nil)
        members.changed("carol", to: nil, count: nil)
        #expect(members.names == ["bob": "Robert"])
    }

    @Test("changes received during a read take precedence over it, the last of each user")
    mutating func heardMeanwhile() {
        members.readBegan()
        for (user, name) in [("alice", nil), ("bob", "Bob"), ("carol", "Carol"), ("carol", nil)]
            as [(UserID, ByteString?)]
        {
            members.changed(user, to: name, count: nil)
        }
        members.snapshotRead(["alice": "Alice", "carol": "Carol", "dave": "Dave"], count: 3, most: 100)
        #expect(members.names == ["bob": "Bob", "dave": "Dave"])
    }

    @Test("changes are kept until the last of overlapping reads ends, and no longer")
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

    @Test("a failed read changes nothing, and the changes kept for it are dropped")
    mutating func failed() {
        read(["alice": "Alice"])
        members.readBegan()
        members.changed("alice", to: nil, count: nil)
        members.readFailed()
        #expect(members.names == [:])
        read(["alice": "Alice"])
        #expect(members.names == ["alice": "Alice"])
    }

    @Test("if there are more members than may be known, as many as possible are known, and all are counted")
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

    @Test("more are read when few are left, and all as soon as all may be known")
    mutating func fewAreLeft() {
        let some = Dictionary(uniqueKeysWithValues: (0..<8).map { (try! UserID("u\($0)"), ByteString("")) })
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

    @Test("if all are known, their number is used regardless of counts received")
    mutating func few() {
        read(["alice": "Alice"])
        members.changed("bob", to: "Bob", count: nil)
        members.changed("carol", to: nil, count: nil)
        #expect(members.count == 2)
    }

    @Test("after a reset, nothing is known until the next read")
    mutating func forgotten() {
        read(["alice": "Alice"])
        members.forget()
        members.changed("bob", to: "Bob", count: nil)
        #expect(members.names == nil)
        read(["carol": "Carol"])
        #expect(members.names == ["carol": "Carol"])
    }
}
