import NIOCore
import Testing

@testable import RollcallServer

@Suite struct ParcelTests {
    private let one = ServerFrame(text: Array("one".utf8))
    private let two = ServerFrame(text: Array("two".utf8))

    @Test("frames are sent in order, as one block of memory")
    func order() {
        let parcel = Parcel(one).adding(two).adding(.ping)
        #expect(parcel.count == one.count + two.count + ServerFrame.ping.count)
        #expect(parcel.bytes == ServerFrame(joining: [one, two, .ping]).bytes)
    }

    @Test("sockets that are sent the same frames share a parcel, others do not")
    func shared() {
        let first = Parcel(one)
        let (alice, bob) = (first.adding(two), first.adding(two))
        #expect(alice === bob)
        #expect(first.adding(.ping) !== alice)
        #expect(first.adding(ServerFrame(text: Array("two".utf8))) !== alice, "the same text, but another frame")
    }

    @Test("extending a parcel does not change the original")
    func extended() {
        let first = Parcel(one)
        _ = first.adding(two)
        #expect(first.bytes == one.bytes)
    }
}
