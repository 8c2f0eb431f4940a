// Text that is hard to parse, or has a meaning that no client intends.

extension Attack {
    static let texts = [
        text("60,000 arrays within each other", "close 4102", String(repeating: "[", count: 60_000)),
        text("13,000 objects within each other", "close 4102", String(repeating: #"{"a":"#, count: 13_000)),
        text(
            "20,000 arrays within a known field", "close 4102", "error bad_request",
            #"{"type":"watch","users":"# + String(repeating: "[", count: 20_000)
                + String(repeating: "]", count: 20_000) + "}"),
        text(
            "64 KiB of keys", "ack",
            #"{"type":"state","state":"idle","id":1"# + (0..<6000).map { #","k\#($0)":0"# }.joined() + "}"),
        text("no JSON", "close 4102", "hello?"),
        text("JSON that is no object", "close 4102", "[1]"),
        text("a number of 1e400", "error bad_request", "close 4102", #"{"type":"ping","id":1e400}"#),
        text("a number of 2⁶⁴", "ack", #"{"type":"state","state":"idle","id":18446744073709551616}"#),
        text("a number of −0", "ack", #"{"type":"state","state":"idle","id":-0}"#),
        text("NaN", "close 4102", #"{"type":"ping","id":NaN}"#),
        text(
            "a number of 60,000 digits", "error bad_request", "close 4102", "ack",
            #"{"type":"state","state":"idle","id":"# + String(repeating: "9", count: 60_000) + "}"),
        text("a word where a list belongs", "error bad_request", #"{"type":"watch","users":"bob"}"#),
        text("an object where a word belongs", "error bad_request", #"{"type":"join","conversation":{}}"#),
        text("null for a type", "error bad_request", #"{"type":null}"#),
        text("a type that there is not", "error unknown_type", #"{"type":"dance"}"#),
        text(
            "the same key twice", "ack", "error bad_request", "close 4102",
            #"{"type":"state","state":"active","state":"idle","id":1}"#),
        text(
            "an id of 60,000 bytes", "error bad_request",
            #"{"type":"ping","id":"\#(String(repeating: "x", count: 60_000))"}"#),
        text(
            "a lone surrogate, escaped", "error bad_request", "close 4102", #"{"type":"join","conversation":"\ud800"}"#),
        text(
            "more users than may be watched", "error limit",
            #"{"type":"watch","users":[\#((0..<2001).map { "\"u\($0)\"" }.joined(separator: ","))]}"#),
    ]

    private static func text(_ description: String, _ answersAndText: String...) -> Attack {
        Attack(
            description, at: .session, answers: answersAndText.dropLast(),
            ClientFrame.text(answersAndText.last ?? "").bytes)
    }
}
