// Tokens that were not signed by a holder of the key.

internal import Crypto
internal import Foundation

/// The keys of a worker under attack: a secret, and the public half of an RSA key of someone else.
public enum AttackedKeys {
    public static let secret = "a secret of a worker under attack, of enough bytes"

    static let modulus =
        """
        t7PnWLTgO45XxzgszOsjUqLNjInhMpbDGfUJ9hF9mHwNIYqsfQwlNIbMCc4qksw3rEFd3h7CHNkT3HPuhVERR6loiER4nNXZg4Cx\
        NrUlLC4UewrB1lPdzrWOTClL9Nlh37_eScT_AXGlcpIK9_3uXfwWr8Hky5XxC12KP5u4X5qg1hjw1yiWIqvaiJQ9bmFCwD1Pqzcp\
        n4cas0sUbIqZQnV397q0rrgJB0yv60A3SYnbuRQNbtgMD6UXVpdLLg8KWfgyG3Z2u09h67nXsEbYD1o_R6iPu4uMMuKVafdSKg5Z\
        q784WRrJ2Z8F83X6VBT5tb8vuHC3ZP41J42kRDMPIw
        """

    public static let jwks =
        #"{"keys":[{"kty":"RSA","kid":"r1","alg":"RS256","use":"sig","n":"\#(modulus)","e":"AQAB"}]}"#

    static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAt7PnWLTgO45XxzgszOsj
        UqLNjInhMpbDGfUJ9hF9mHwNIYqsfQwlNIbMCc4qksw3rEFd3h7CHNkT3HPuhVER
        R6loiER4nNXZg4CxNrUlLC4UewrB1lPdzrWOTClL9Nlh37/eScT/AXGlcpIK9/3u
        XfwWr8Hky5XxC12KP5u4X5qg1hjw1yiWIqvaiJQ9bmFCwD1Pqzcpn4cas0sUbIqZ
        QnV397q0rrgJB0yv60A3SYnbuRQNbtgMD6UXVpdLLg8KWfgyG3Z2u09h67nXsEbY
        D1o/R6iPu4uMMuKVafdSKg5Zq784WRrJ2Z8F83X6VBT5tb8vuHC3ZP41J42kRDMP
        IwIDAQAB
        -----END PUBLIC KEY-----

        """
}

extension Attack {
    static let tokens = [
        hello("no token at all", "close 4102", #"{"type":"hello","device":"d"}"#),
        token("a token that is none", "x.y.z"),
        token("a token of dots", String(repeating: ".", count: 10_000)),
        token("a token of 15,000 bytes", String(repeating: "A", count: 15_000)),
        hello(
            "a token of 60,000 bytes", "close 1009",
            #"{"type":"hello","token":"\#(String(repeating: "A", count: 60_000))","device":"d"}"#),
        unproven("alg: none", signed(#"{"alg":"none"}"#) { _ in [] }),
        unproven("alg: nOnE", signed(#"{"alg":"nOnE","typ":"JWT"}"#) { _ in [] }),
        unproven("no signature", signed(#"{"alg":"HS256"}"#) { _ in [] }),
        unproven(
            "another's secret",
            signed(#"{"alg":"HS256"}"#, mac(Data("the secret of somebody else, of enough bytes".utf8)))),
        unproven(
            "HS256 with the RSA public key's PEM for a secret",
            signed(#"{"alg":"HS256","kid":"r1"}"#, mac(Data(AttackedKeys.publicPEM.utf8)))),
        unproven(
            "HS256 with the RSA modulus for a secret",
            signed(#"{"alg":"HS256","kid":"r1"}"#, mac(Data(AttackedKeys.modulus.utf8)))),
        unproven(
            "RS256 with an HMAC for a signature",
            signed(#"{"alg":"RS256","kid":"r1"}"#, mac(Data(AttackedKeys.secret.utf8)))),
        unproven(
            "a key in its own header",
            signed(
                #"{"alg":"HS256","jwk":{"kty":"oct","k":"AAAA"},"jku":"http://127.0.0.1:1/"}"#, mac(Data([0, 0, 0])))),
        unproven("a kid that is a path", signed(#"{"alg":"HS256","kid":"../../dev/null"}"#, mac(Data()))),
        token(
            "a right signature, and an unknown critical header",
            signed(#"{"alg":"HS256","crit":["x"],"x":1}"#, mac(Data(AttackedKeys.secret.utf8)))),
        token(
            "a right signature, and a user of two words",
            signed(
                #"{"alg":"HS256"}"#, claims: #"{"sub":"a b}",\#(good)}"#, mac(Data(AttackedKeys.secret.utf8)))),
        token(
            "a right signature, and no end",
            signed(#"{"alg":"HS256"}"#, claims: #"{"sub":"alice","iat":0}"#, mac(Data(AttackedKeys.secret.utf8)))),
        token(
            "a right signature, and an end of 1e400",
            signed(#"{"alg":"HS256"}"#, claims: #"{"sub":"alice","exp":1e400}"#, mac(Data(AttackedKeys.secret.utf8)))),
        token(
            "a right signature, and claims within claims",
            signed(
                #"{"alg":"HS256"}"#, claims: #"{"sub":"alice","exp":"# + String(repeating: "[", count: 8_000),
                mac(Data(AttackedKeys.secret.utf8)))),
    ]

    /// The times of a valid token.
    private static let good: String = {
        let now = Int(Date.now.timeIntervalSince1970)
        return #""iat":\#(now),"exp":\#(now + 86_400)"#
    }()

    private static func token(_ description: String, _ token: String) -> Attack {
        hello(description, "close 4100", #"{"type":"hello","token":"\#(token)","device":"d"}"#)
    }

    /// Another key could make it good.
    private static func unproven(_ description: String, _ token: String) -> Attack {
        hello(description, "close 4002", #"{"type":"hello","token":"\#(token)","device":"d"}"#)
    }

    private static func hello(_ description: String, _ answer: String, _ text: String) -> Attack {
        Attack(
            description, at: .upgraded, answers: [answer], signedTokens: true, ClientFrame.text(text).bytes)
    }

    static func signed(
        _ header: String, claims: String = #"{"sub":"alice",\#(good)}"#, _ sign: (Data) -> [UInt8]
    ) -> String {
        let content = base64(Data(header.utf8)) + "." + base64(Data(claims.utf8))
        return content + "." + base64(Data(sign(Data(content.utf8))))
    }

    static func mac(_ key: Data) -> (Data) -> [UInt8] {
        { Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: key))) }
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
