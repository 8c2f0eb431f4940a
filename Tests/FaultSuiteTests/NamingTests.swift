// Names of a stage's users: with plain names, the suite would test nothing.

import RollcallClient
import TestSupport
import Testing

@testable import FaultSuite

@Suite("The names on a stage")
struct NamingTests {
    @Test("a role keeps its name on a stage, and no two roles share one")
    func stable() throws {
        let naming = Naming()
        let roles = ["leaver", "twin", "typist", "insider", "removed0", "removed1", "goner", "here-changer"]
        let names = try roles.map(naming.user)
        #expect(try roles.map(naming.user) == names)
        #expect(Set(names).count == roles.count)
        #expect(try naming.device("phone", of: "twin") == naming.device("phone", of: "twin"))
        #expect(try naming.conversation("club") != naming.conversation("room"))
    }

    @Test("users with different roles, and devices of one user, get canonically equivalent names")
    func pairs() throws {
        let naming = Naming()
        for (one, other) in [("leaver", "twin"), ("insider", "removed1")] {
            let (one, other) = (try naming.user(one), try naming.user(other))
            #expect(one != other && one.text == other.text)
        }
        let (phone, laptop) = (try naming.device("phone", of: "twin"), try naming.device("laptop", of: "twin"))
        #expect(phone != laptop && phone.text == laptop.text)
    }

    @Test("roles that are written to Redis directly, or used in thousands, have fixed names")
    func plain() throws {
        let naming = Naming()
        for role in ["bystander0", "future", "one17"] { #expect(try naming.user(role).text == role) }
    }

    @Test("names are shown in ASCII, and percent-encoded byte by byte")
    func shown() throws {
        let user: UserID = "e\u{301}/\u{202E}Z"
        #expect(user.escaped == #"e\u{0301}/\u{202E}Z"#)
        #expect(user.percentEncoded == "e%cc%81%2f%e2%80%ae%5a")
    }
}
