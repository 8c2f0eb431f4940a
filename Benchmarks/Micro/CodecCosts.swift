// Messages as both ends read and write them, and changes as Redis publishes them.

import RollcallClient
import RollcallProtocol

func measureCodec(_ bench: inout Bench) {
    let codec = MessageCodec()
    let json = codec.json(of: .presence([presence]))
    bench.row("decoding a presence message") { _ in keep(json.withUnsafeBytes { try? codec.message(from: $0) }) }
    let signal = ClientRequest(.typing("c42", true), id: .integer(7))
    bench.row("encoding a signal") { _ in keep(codec.json(of: signal)) }
    let heard = Array(Sample.signal.utf8)
    bench.row("decoding a signal") { _ in keep(heard.withUnsafeBytes { try? codec.request(from: $0) }) }
    bench.row("encoding a typing message") { _ in keep(codec.json(of: Sample.typing)) }
    let change = Array(Sample.change.utf8)
    bench.row("decoding a published change") { _ in keep(change.withUnsafeBytes { try? TypingChange(jsonText: $0) }) }
}

private let presence = Presence(
    user: "bob", status: .online, lastSeen: Timestamp(milliseconds: 1_784_599_990_000),
    updatedAt: Timestamp(milliseconds: 1_784_599_990_000), version: 1_784_599_990_000)

/// Typical messages.
enum Sample {
    static let signal = #"{"type":"typing","conversation":"c42","typing":true}"#
    static let change = #"{"user":"alice","typing":true,"expires_in":3000,"at":1784599990000}"#
    static let typing = ServerMessage.typing(
        .init(conversation: "c42", users: [Typist(user: "bob", name: "Bob")], count: 1))
}
