/// An RSA key created with OpenSSL, and tokens signed with it, since creating RSA keys is slow.
enum PSSKey {
    /// Its entry in a key set, with the kid `p`.
    static func jwk(_ rest: String) -> String {
        #"{"kty":"RSA","e":"AQAB","kid":"p","use":"sig","n":"\#(modulus)"\#(rest)}"#
    }

    private static let modulus =
        "kizRxUPjzP06Pn3z1goMmuQcXORzxeEW1YZSEZ6JhaQulwfsZwDm8IF9zYCr-O3sXPKbsuWNa5fCKGNmgXSIMkQh5-IdrCjO"
        + "GoYI1Agzez9NHop5AG8urdxwr0HUQ2zzwNeL00DnPvQzfPR6DSiWgDXXhaDzKbXCNeznWKHqxrb3UoXwdeqTavYr5tR8J-Gy"
        + "ubZerEDSmzg4u3iBBQHYWwBSJ42KePuW3L8_QeLMeByNs5ZOiHV6kiVAP3SFwdqzxVf_XJFBflIdBtHJl5FzH4t_VC3__wKG"
        + "mHNo0CPGkaUKCCSEDiNCvHNT5mR6dZzGFsCwzxW-ZF38IIdFlx6olw"

    /// Tokens for alice on iphone, valid until the start of 2027.
    static let ps256 =
        "eyJhbGciOiJQUzI1NiIsImtpZCI6InAifQ.eyJzdWIiOiJhbGljZSIsImV4cCI6MTgwMDAwMDAwMCwiZGV2aWNlIjoiaXBob"
        + "25lIn0.TMW37epNca--vFNZQ87dZIuIBfY-82HtcQacF_gocoxION2_qMXTkKT-V_yWibR9Rhf9YV4-F0oidukYNR_BC-iKX"
        + "38kxlWPeWu7ncgyawCmcxRCPf1nFPP7pLvekc6xdRGU-YggKtRDWsTL-ekv29LFK5iKF5tQrDb4flEtqvSmyiMhRW8W4Jfle"
        + "3FSMmLFAgv05teh3gEZ3E7SrFStWNU3Y8nXQ1WxyH735qQ1qLIQsbN1_S7H8I9gAte1IzH82jnnboMuasRUyAPeR1QV_IkFE"
        + "bKHg0Y4Xw6QBfXMNmJNQjmOhCtzq815Kj1TrmzkMfG3kAUiv4uhlfQ9u08hNg"

    /// Signed with the same key, with the padding of RS256.
    static let rs256 =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InAifQ.eyJzdWIiOiJhbGljZSIsImV4cCI6MTgwMDAwMDAwMCwiZGV2aWNlIjoiaXBob"
        + "25lIn0.LlZWk5BkS_A8xnRWtYYgVYtP6S_tIKLmqyza2NMAtXUPWTe7y4YYhZKbt-zELQg7ar-z6Hz0K4eaKFdUAKeQGXGBZ"
        + "TyYDn2k98tzOwTClXuCrJxQVocVKfmOkAs2zvpPMduNd04_-FoOxf1d8oyp1DTY8PHXRsDvi-C43cyZGtcfKTWTrTbGbgaf-"
        + "PUBINCjaVrxFmsHNh3zdNdCWtuRrkONAzX6KtruqqV46-Mv252lzjFd9QBts-LdEDAhT3ng6as5Q18W2gpu0321b34-I6vsa"
        + "7AHsJxYK0nNZUOWvKBOiK8qo3SctbkuxTsNYMTqby7vhgda1U3eU3FJtkbQVg"

    /// Its header names PS256, but its padding is that of RS256.
    static let mixed =
        "eyJhbGciOiJQUzI1NiIsImtpZCI6InAifQ.eyJzdWIiOiJhbGljZSIsImV4cCI6MTgwMDAwMDAwMCwiZGV2aWNlIjoiaXBob"
        + "25lIn0.C2zSJN2IMuuUl61jmFRZUyDFMjAvfuHDSUzL-NgRpGaJzJ5JD50usDn14YVZvKJWYZiKS6KIVwPnn5ewg7R9NieYQ"
        + "cz91O_Y77Xxg3TFqBh_nLdfXLsCxf_j0SDBkvrCCV-D-eBmzehY4wdEfIVZH1y-hOw-5KRHPmgpmVIbW7y3VOBJ2TCxdS0OO"
        + "h6cUrFsrIqWvnzFZ7qFdb7MMtzC-nxvDR4gBNDuuDRWFlS1xS34bDHOvKV1zwsfQDUkZCP35nhj8Ak6xJ45OR1YAm3LcSenM"
        + "Y-1DsytN49umWoDxxDCvnQHsLh1AVrh-80duKMfOSLXIo9Zq26oZ4hqQOY0Ew"
}
