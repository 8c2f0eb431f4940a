// A worker's frames, byte by byte.

import NIOCore
import RollcallProtocol
import Testing

@testable import RollcallServer

@Suite("Encoded frames")
struct ServerFrameTests {
    private func bytes(_ frame: ServerFrame) -> [UInt8] { Array(frame.bytes.readableBytesView) }

    @Test("have the shortest header that their length permits")
    func headers() {
        func header(_ count: Int) -> [UInt8] {
            Array(bytes(ServerFrame(text: repeatElement(0x61, count: count))).prefix { $0 != 0x61 })
        }
        #expect(header(1) == [0x81, 1])
        #expect(header(125) == [0x81, 125])
        #expect(header(126) == [0x81, 126, 0, 126])
        #expect(header(65_535) == [0x81, 126, 0xFF, 0xFF])
        #expect(header(65_536) == [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
    }

    @Test("can be written in place, and joined")
    func writing() {
        let one = ServerFrame(textOf: 1) { $0.writeString("hello") }
        #expect(bytes(one) == [0x81, 5] + Array("hello".utf8))
        let pong = #"{"time":7,"type":"pong"}"#
        #expect(bytes(ServerFrame(.pong(time: Timestamp(milliseconds: 7)))) == [0x81, 24] + Array(pong.utf8))
        let both = ServerFrame(joining: [one, .ping])
        #expect(bytes(both) == bytes(one) + [0x89, 0])
        #expect(both.count == 9)
    }

    @Test("contain the close reason, as far as a control frame has room")
    func closing() {
        #expect(bytes(.close(nil)) == [0x88, 0])
        #expect(bytes(.close(.late, reason: "é")) == [0x88, 4, 0x0F, 0xA3, 0xC3, 0xA9])
        let long = bytes(.close(.normal, reason: String(repeating: "é", count: 100)))
        #expect(long[1] == 124)
        #expect(String(validating: long.dropFirst(4), as: UTF8.self) == String(repeating: "é", count: 61))
        #expect(bytes(.pong([1, 2])) == [0x8A, 2, 1, 2])
    }
}
