// `client-bench`: what the client costs an app, and what messages cost both ends, in nanoseconds and allocations.

import CAllocations
import Foundation
import RollcallClient
import RollcallModel

@main
struct ClientBench {
    static func main() {
        print("| what | median | × floor | allocations |\n|---|---:|---:|---:|")
        let floor = Floor()
        show(Measurement("floor: a lock, and a look-up in a dictionary") { _ in keep(floor.lookUp()) })
        show(Measurement("floor: the time") { _ in keep(ContinuousClock.now) })
        edits()
        texts()
        messages()
    }

    private static func show(_ measured: Measurement) {
        let allocations = allocations_are_counted() ? String(format: "%.1f", measured.allocations) : "not counted"
        print(
            "| \(measured.name) |", String(format: "%.0f ns | %.1f |", measured.nanoseconds, measured.floors),
            "\(allocations) |")
    }

    /// Edits as they come while somebody types, and edits each of which begins or ends the typing.
    private static func edits() {
        let client = RollcallClient(url: "ws://127.0.0.1:1/v1/connect", device: "phone") { "alice" }
        let input = client.typingInput(in: "c42")
        let text = String(repeating: "Lorem ipsum dolor sit amet, ", count: 20)
        // The client's own thread takes up what it was told, so that no queue of thousands is measured.
        let rest = { _ = usleep(2000) }
        input.edited(text)
        rest()
        show(Measurement("an edit while typing", pause: rest) { _ in input.edited(text) })
        show(
            Measurement("an edit that begins or ends the typing", pause: rest) {
                input.edited($0.isMultiple(of: 2) ? text : " ")
            })
    }

    private static func texts() {
        for count in [1, 3, 200] {
            let typists = (0..<min(count, 10)).map { Typist(user: "user", name: "Person \($0)") }
            let typing = Typing(conversation: "c42", typists: typists, count: count)
            show(Measurement("the text for \(count) typing") { _ in keep(TypingText.english.text(for: typing)) })
        }
    }

    private static func messages() {
        let codec = MessageCodec()
        let presence = Presence(
            user: "bob", status: .online, lastSeen: Timestamp(milliseconds: 1_784_599_990_000),
            updatedAt: Timestamp(milliseconds: 1_784_599_990_000), version: 1_784_599_990_000)
        let json = codec.json(of: .presence([presence]))
        show(
            Measurement("decoding a presence message") { _ in
                keep(json.withUnsafeBytes { try? codec.message(from: $0) })
            })
        let signal = ClientRequest(.typing("c42", true), id: .integer(7))
        show(Measurement("encoding a signal") { _ in keep(codec.json(of: signal)) })
        let heard = Array(#"{"type":"typing","conversation":"c42","typing":true}"#.utf8)
        show(
            Measurement("decoding a signal") { _ in keep(heard.withUnsafeBytes { try? codec.request(from: $0) }) })
        let typing = ServerMessage.typing(
            .init(conversation: "c42", users: [Typist(user: "bob", name: "Bob")], count: 1))
        show(Measurement("encoding a typing message") { _ in keep(codec.json(of: typing)) })
        let change = Array(#"{"user":"alice","typing":true,"expires_in":3000,"at":1784599990000}"#.utf8)
        show(
            Measurement("decoding a published change") { _ in
                keep(change.withUnsafeBytes { try? TypingChange(jsonText: $0) })
            })
    }
}
