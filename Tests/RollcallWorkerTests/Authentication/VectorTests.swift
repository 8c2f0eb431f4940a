// The examples of the standards: keys and signatures that other implementations made.

import Foundation
import RollcallProtocol
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Examples of RFC 7515, 7520 and 8037")
struct VectorTests {
    private struct Vector: CustomTestStringConvertible {
        let testDescription: String
        let key: String
        let token: String
        /// What its payload is refused for: some are no claims, and that is seen only after the signature.
        let refusal: AuthenticationError.Code?
    }

    private static let vectors = [
        Vector(
            testDescription: "RFC 7515, A.2, RS256",
            key: #"{"kty":"RSA","e":"AQAB","n":""#
                + "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Ql"
                + "L-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs"
                + "LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud"
                + "F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
                + "\"}",
            token: "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9"
                + "pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Q"
                + "c_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARN"
                + "PvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6I"
                + "eYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
            refusal: nil),
        Vector(
            testDescription: "RFC 7515, A.3, ES256",
            key: #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            token: "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9"
                + "pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqP"
                + "P3-Kg6NU1Q",
            refusal: nil),
        Vector(
            testDescription: "RFC 7520, 4.1, RS256",
            key: #"{"kty":"RSA","e":"AQAB","kid":"bilbo.baggins@hobbiton.example","use":"sig","n":""#
                + "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMa"
                + "JMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6c"
                + "S6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwd"
                + "q_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw"
                + "\"}",
            token: "eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3V"
                + "zIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHl"
                + "vdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9"
                + "mZiB0by4.MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp8"
                + "3xuglII7PNDi84wnB-BDkoBwA78185hX-Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6"
                + "x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrDaLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI"
                + "-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg",
            refusal: .malformed),
        Vector(
            testDescription: "RFC 8037, A.4, EdDSA",
            key: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            token: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AI"
                + "bQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
            refusal: .malformed),
    ]

    @Test("each is verified, but not with another letter or a signature of another length", arguments: vectors)
    private func verified(vector: Vector) throws {
        var keys = VerificationKeys()
        keys.replace(.jwksFile, with: try KeySource.jwksFile.keys(in: Array(#"{"keys":[\#(vector.key)]}"#.utf8)).keys)
        func refusal(_ token: String) -> AuthenticationError.Code? {
            do throws(AuthenticationError) {
                _ = try SignedToken(ByteString(token)).claims(signedBy: keys)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(refusal(vector.token) == vector.refusal)
        let parts = vector.token.split(separator: ".").map(String.init)
        for part in 1...2 {
            var changed = parts
            changed[part] = (parts[part].first == "A" ? "B" : "A") + parts[part].dropFirst()
            #expect(refusal(changed.joined(separator: ".")) == .badSignature)
        }
        for signature in ["", String(parts[2].dropLast(4)), parts[2].dropLast(4) + "AAAAAAAA", "AAAA" + parts[2]] {
            #expect(refusal("\(parts[0]).\(parts[1]).\(signature)") == .badSignature)
        }
    }
}
