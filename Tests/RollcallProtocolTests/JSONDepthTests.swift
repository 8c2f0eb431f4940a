// Nested arrays and objects, deeper than needed.

import Foundation
import RollcallProtocol
import Testing

@Suite struct JSONDepthTests {
    private static func ping(depth: Int, _ open: String, _ close: String) -> [UInt8] {
        let field = String(repeating: open, count: depth - 1) + "0" + String(repeating: close, count: depth - 1)
        return Array(#"{"type":"ping","x":\#(field)}"#.utf8)
    }

    @Test(
        "a depth of 512 is accepted, and more is refused",
        arguments: [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]"), (#"{"a":["#, "]}")])
    func depth(open: String, close: String) throws {
        let each = open.count { $0 == "[" || $0 == "{" }
        for depth in 1...(511 / each) {
            let ping = Self.ping(depth: depth + 1, open, close)
            #expect(try MessageCodec().request(from: ping) == ClientRequest(.ping), "\(depth)")
        }
        #expect(throws: MessageCodec.NotJSON.self) {
            try MessageCodec().request(from: Self.ping(depth: 514, open, close))
        }
        #expect(throws: MessageCodec.NotJSON.self) {
            try MessageCodec().request(from: Self.ping(depth: 100, open, close + "]"))
        }
    }

    @Test("the stack does not grow with the depth")
    func stack() {
        let deep = Self.ping(depth: 1_000_000, "[", "]")
        let unending = Array(String(repeating: #"{"a":["#, count: 500_000).utf8)
        let allowed = Self.ping(depth: 512, "[", "]")
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var requests: [ClientRequest?] = []
        let thread = Thread {
            requests = [deep, unending, allowed].map { try? MessageCodec().request(from: $0) }
            done.signal()
        }
        thread.stackSize = 128 << 10
        thread.start()
        done.wait()
        #expect(requests == [nil, nil, ClientRequest(.ping)])
    }
}
