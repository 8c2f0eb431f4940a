// A new token before the old one expires.

import Foundation
import RollcallTesting
import Synchronization
import Testing

@Suite @MainActor struct TokenRefreshTests {
    private let worker = FakeWorker(at: Timestamp(milliseconds: 1_784_600_000_000))

    /// Tokens that are valid for these numbers of seconds, each from when it is requested.
    private func client(_ lives: Int...) -> RollcallClient {
        let asked = Mutex(0)
        return worker.client(user: "alice") { _ in
            let number = asked.withLock {
                $0 += 1
                return $0 - 1
            }
            return jwt(#"{"sub":"alice","exp":\#(1_784_600_000 + lives[min(number, lives.count - 1)])}"#)
        }
    }

    private func tokens() async -> Int {
        await worker.heard().count { if case .token = $0 { true } else { false } }
    }

    @Test("a token is replaced one to two minutes before it expires, on the open connection")
    func refresh() async {
        let client = client(3600, 7200)
        client.connect()
        await worker.passes(.seconds(3600 - 121))
        #expect(await tokens() == 0)
        await worker.passes(.seconds(61))
        #expect(await tokens() == 1)
        #expect(await worker.heard().count { if case .hello = $0 { true } else { false } } == 1)
        await worker.passes(.seconds(3600))
        #expect(await tokens() == 1 && client.connection.latest.isConnected)
    }

    @Test("a short-lived token is replaced in its last half; one that expires no later is not sent but requested again")
    func short() async {
        let client = client(20, 20, 60)
        client.connect()
        await worker.passes(.milliseconds(9_900))
        #expect(await tokens() == 0)
        await worker.passes(.seconds(5))
        #expect(await tokens() == 0, "the second is requested after 10 to 15 s, and the third 5 s later")
        await worker.passes(.milliseconds(5_200))
        #expect(await tokens() == 1, "the second had the same end as the first")
        withExtendedLifetime(client) {}
    }

    @Test(
        "a token without an expiry date is never replaced",
        arguments: [
            "alice", "a.b.c", jwt("{}"), jwt(#"{"exp":"soon"}"#), jwt("[]"), "..", jwt(#"{"exp":1e400}"#),
        ])
    func noExpiry(token: String) async {
        let client = worker.client(user: "alice") { _ in token }
        client.connect()
        await worker.passes(.seconds(100_000))
        #expect(await tokens() == 0 && client.connection.latest.isConnected)
    }
}

/// An unsigned token: clients cannot check signatures.
private func jwt(_ claims: String) -> String {
    let body = Data(claims.utf8).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    return "e30.\(body).c2ln"
}
