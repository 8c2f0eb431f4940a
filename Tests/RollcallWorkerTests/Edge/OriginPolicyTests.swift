import Testing

@testable import RollcallServer

@Suite("Origins")
struct OriginPolicyTests {
    @Test("a request without an origin is not from a browser, and passes")
    func none() {
        for policy in [
            OriginPolicy(origins: [], listeningOn: "0.0.0.0"), .init(origins: ["https://a.example"], listeningOn: "::"),
        ] {
            #expect(policy.allows(nil, host: "b.example"))
        }
    }

    @Test("a list permits exactly its entries")
    func list() {
        let policy = OriginPolicy(origins: ["https://Chat.example.com"], listeningOn: "127.0.0.1")
        #expect(policy.allows("https://chat.example.com", host: "rt.example.com"))
        for origin in [
            "http://chat.example.com", "https://chat.example.com:444", "https://x.chat.example.com", "null",
            "http://localhost", "https://chat.example.com.evil.example", "https://rt.example.com", "",
        ] {
            #expect(!policy.allows(origin, host: "rt.example.com"), "\(origin)")
        }
    }

    @Test(
        "an entry matches what browsers send, in whatever spelling",
        arguments: [
            ("https://example.org:443", ["https://example.org"], ["https://example.org:8443", "http://example.org"]),
            ("http://EXAMPLE.org:80", ["http://example.org"], ["https://example.org"]),
            ("https://Bücher.example", ["https://xn--bcher-kva.example"], ["https://bucher.example"]),
            ("http://[0:0::1]:3000", ["http://[::1]:3000"], ["http://[::1]", "http://[::2]:3000"]),
            ("capacitor://localhost", ["capacitor://localhost"], ["ionic://localhost", "http://localhost"]),
            ("tauri://localhost", ["tauri://localhost"], ["tauri://localhost:80"]),
            ("chrome-extension://abcdefghijklmnop", ["chrome-extension://abcdefghijklmnop"], ["chrome-extension://x"]),
            (
                "https://*.Example.org", ["https://a.example.org", "https://a.b.example.org"],
                [
                    "https://example.org", "https://.example.org", "https://aexample.org", "http://a.example.org",
                    "https://a.example.org:8443", "https://a.example.org.evil.example", "https://evil/x.example.org",
                    "https://evil:1@a.example.org",
                ]
            ),
            ("https://*.example.org:8443", ["https://a.example.org:8443"], ["https://a.example.org"]),
        ])
    func spellings(entry: String, same: [String], others: [String]) {
        let policy = OriginPolicy(origins: [entry], listeningOn: "0.0.0.0")
        for origin in same { #expect(policy.allows(origin, host: nil), "\(origin)") }
        for origin in others { #expect(!policy.allows(origin, host: nil), "\(origin)") }
    }

    @Test(
        "what no origin can equal is refused",
        arguments: [
            "null", "file://", "file:///x", "https://", "example.org", "https:example.org", "https://example.org/",
            "https://example.org/x", "https://me@example.org", "https://example.org:", "https://example.org:99999",
            "https://*", "https://a.*.example.org", "https://a*.example.org", "https://exa mple.org",
            "https://127.1", "https://[::g]", "1https://example.org", "https://a%20b", "",
        ])
    func impossible(entry: String) {
        #expect(throws: InvalidOrigin.self) { try OriginPattern(entry) }
    }

    @Test("a star permits all origins")
    func star() {
        #expect(OriginPolicy(origins: ["*"], listeningOn: "0.0.0.0").allows("https://any.example", host: "b.example"))
        #expect(OriginPolicy(origins: ["*"], listeningOn: "0.0.0.0").allows("null", host: nil))
    }

    @Test("without a list, a page may connect to the host that it came from")
    func sameHost() {
        let policy = OriginPolicy(origins: [], listeningOn: "0.0.0.0")
        #expect(policy.allows("https://chat.example.com", host: "Chat.example.com"))
        #expect(policy.allows("https://chat.example.com", host: "chat.example.com:8080"))
        #expect(policy.allows("http://[2001:db8::1]:3000", host: "[2001:db8::1]:8080"))
        for origin in [
            "https://evil.example", "http://localhost", "null", "https:chat.example.com", "https://",
            "https://chat.example.com/x",
        ] {
            #expect(!policy.allows(origin, host: "chat.example.com"), "\(origin)")
        }
        #expect(!policy.allows("https://chat.example.com", host: nil))
    }

    /// Regression: only the host of the page was compared with that of the request, and an attacker may control both
    /// names.
    @Test("in insecure mode, only pages of this machine that use its own names are accepted")
    func rebound() {
        let policy = OriginPolicy(origins: [], listeningOn: "127.0.0.1", trustsTokens: true)
        for origin in [nil, "http://localhost:3000", "http://127.0.0.1", "https://[::1]:80"] {
            for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
                #expect(policy.allows(origin, host: host), "\(origin ?? "-") \(host)")
            }
            for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1", nil] {
                #expect(!policy.allows(origin, host: host), "\(origin ?? "-") \(host ?? "-")")
            }
        }
        #expect(!policy.allows("http://evil.example", host: "127.0.0.1:8080"))
        #expect(!policy.allows("null", host: "127.0.0.1:8080"))
        let named = OriginPolicy(origins: ["http://dev.example"], listeningOn: "127.0.0.1", trustsTokens: true)
        #expect(named.allows("http://dev.example", host: "dev.example:8080"))
    }

    @Test("an edge on loopback accepts the pages of this machine", arguments: ["127.0.0.1", "localhost", "::1"])
    func loopback(host: String) {
        let policy = OriginPolicy(origins: [], listeningOn: host)
        for origin in ["http://localhost:3000", "http://127.0.0.1", "http://127.8.9.1:1", "http://[::1]:80"] {
            #expect(policy.allows(origin, host: "127.0.0.1:8080"), "\(origin)")
        }
        for origin in ["http://127.evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example"] {
            #expect(!policy.allows(origin, host: "127.0.0.1:8080"), "\(origin)")
        }
    }
}
