// Names that could be mistaken for another Redis key, a command, or a line of the log.

extension Attack {
    static let names =
        [
            ("braces, to be another key", "a}:{b"), ("a line end and a command", #"c\r\n*1\r\n$8\r\nFLUSHALL\r\n"#),
            ("a zero byte", #"a\u0000b"#), ("an escape sequence, for readers of the log", #"\u001b[2J"#),
            ("a space, to be two words of a record", " alice phone"), ("a line separator of Unicode", #"a\u2028b"#),
            ("256 bytes", String(repeating: "x", count: 256)), ("nothing", ""),
        ].flatMap { what, name in
            [
                Attack(
                    "a conversation named with \(what)", at: .session, answer: "error bad_request",
                    sending: ClientFrame.text(#"{"type":"join","conversation":"\#(name)"}"#).bytes),
                Attack(
                    "a device named with \(what)", at: .upgraded, answer: "close 4102",
                    sending: ClientFrame.text(#"{"type":"hello","token":"mallory","device":"\#(name)"}"#).bytes),
                Attack(
                    "a user named with \(what)", at: .upgraded, answer: "close 4100",
                    sending: ClientFrame.text(#"{"type":"hello","token":"\#(name)","device":"d"}"#).bytes),
            ]
        } + [
            Attack(
                "names that mean something elsewhere: * $ % : ..", at: .session, answer: "ack",
                sending: [
                    ClientFrame.text(#"{"type":"join","conversation":"*$8:%s%n'\";--../\\"}"#),
                    .text(#"{"type":"typing","conversation":"*$8:%s%n'\";--../\\","typing":true,"id":1}"#),
                ].bytes)
        ]
}
