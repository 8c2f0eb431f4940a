import RollcallLoad
import Testing

@Suite("A worker's address")
struct AddressTests {
    @Test(
        "is parsed, with defaults for missing parts",
        arguments: [
            ("ws://127.0.0.1:8080/v1/connect", "ws://127.0.0.1:8080/v1/connect"),
            ("ws://127.0.0.1", "ws://127.0.0.1:80/v1/connect"),
            ("ws://localhost:9000/chat/connect?x=1", "ws://localhost:9000/chat/connect?x=1"),
        ])
    func address(_ url: String, _ whole: String) throws {
        #expect(try Crowd.Address(url: url).description == whole)
    }

    @Test(
        "is refused with a reason",
        arguments: [
            ("http://127.0.0.1", "is no address of a worker"), ("ws://", "is no address"),
            ("ws://127.0.0.1:99999", "no port"), ("wss://chat.example", "without TLS"),
            ("ws://no-such-host.invalid", "there is no host"), ("ws://127.0.0.1/a b", "is no address"),
        ])
    func refused(_ url: String, _ reason: String) {
        #expect { try Crowd.Address(url: url) } throws: { "\($0)".contains(reason) }
    }
}
