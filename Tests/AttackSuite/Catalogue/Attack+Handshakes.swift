// Requests that are malformed or never end.

extension Attack {
    static let handshakes = [
        door("no HTTP", "HTTP 400", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n"),
        door("a header of 32 KiB", "HTTP 431", request("X-Long: " + String(repeating: "x", count: 32_768))),
        door(
            "10,000 headers", "HTTP 431", "HTTP 400",
            "GET /v1/connect HTTP/1.1\r\n" + (0..<10_000).map { "X-\($0): y\r\n" }.joined() + "\r\n"),
        door(
            "a path of 32 KiB", "HTTP 431", "HTTP 400",
            "GET /" + String(repeating: "x", count: 32_768) + " HTTP/1.1\r\n\r\n"),
        door("another path", "HTTP 404", Stranger.request("GET /v1/../../etc/passwd HTTP/1.1")),
        door("another method", "HTTP 405", Stranger.request("POST /v1/connect HTTP/1.1", "Content-Length: 0")),
        door("a body of 9 exabytes", "HTTP 400", request("Content-Length: 9223372036854775807")),
        door(
            "two lengths, as to smuggle a request", "HTTP 400", request("Content-Length: 5", "Content-Length: 50")),
        door("a page of another origin", "HTTP 403", request("Origin: https://evil.example")),
        door("two origins", "HTTP 403", request("Origin: http://127.0.0.1", "Origin: https://evil.example")),
        door(
            "no key", "HTTP 400",
            Stranger.request().replacing("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", with: "")),
        door(
            "a version that there is not", "HTTP 400", Stranger.request().replacing("Version: 13", with: "Version: 99")),
        door("line ends within a header", "HTTP 400", request("X-A: b\u{0}c")),
    ]

    private static func request(_ extra: String...) -> String {
        Stranger.request().dropLast() + extra.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    private static func door(_ description: String, _ answersAndText: String...) -> Attack {
        Attack(
            description, at: .door, answers: answersAndText.dropLast(), Array((answersAndText.last ?? "").utf8))
    }
}
