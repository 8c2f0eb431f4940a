// Frames that no valid client sends.

extension Attack {
    static let frames = [
        Attack(
            "frames without a mask", at: .session, answer: "close 1002", sending: ClientFrame(isMasked: false).bytes),
        Attack(
            "a reserved bit, as for compression that was not negotiated", at: .session, answer: "close 1002",
            sending: ClientFrame(payload: [1, 2, 3], reserved: 4).bytes),
        Attack("a reserved opcode", at: .session, answer: "close 1002", sending: ClientFrame(opcode: 3).bytes),
        Attack("a reserved control opcode", at: .session, answer: "close 1002", sending: ClientFrame(opcode: 11).bytes),
        Attack(
            "a binary message", at: .session, answer: "close 1003", sending: ClientFrame(opcode: 2, payload: [1]).bytes),
        Attack(
            "a ping of more than 125 bytes", at: .session, answer: "close 1002",
            sending: ClientFrame(opcode: 9, payload: [UInt8](repeating: 65, count: 126)).bytes),
        Attack(
            "a ping in fragments", at: .session, answer: "close 1002",
            sending: ClientFrame(opcode: 9, isFinal: false).bytes),
        Attack("a fragment of nothing", at: .session, answer: "close 1002", sending: ClientFrame(opcode: 0).bytes),
        Attack(
            "a message within a message", at: .session, answer: "close 1002",
            sending: [ClientFrame.text("{", isFinal: false), .text("}")].bytes),
        Attack(
            "a length in more bytes than it needs", at: .session, answer: "close 1002",
            sending: ClientFrame(payload: [123, 125], lengthBytes: 8).bytes),
        Attack(
            "a frame that claims 2⁶³ bytes", at: .session, answer: "close 1009", "close 1002",
            sending: ClientFrame(payload: [123], claimedLength: 1 << 63, lengthBytes: 8).bytes),
        Attack(
            "a message of 64 KiB and one byte", at: .session, answer: "close 1009",
            sending: ClientFrame(payload: [UInt8](repeating: 32, count: 65_537)).bytes),
        Attack(
            "fragments without end", at: .session, answer: "close 1009",
            sending: [ClientFrame.text("{", isFinal: false)].bytes
                + [UInt8](
                    [[ClientFrame]](
                        repeating: [
                            ClientFrame(opcode: 0, payload: [UInt8](repeating: 32, count: 1000), isFinal: false)
                        ],
                        count: 70
                    ).flatMap(\.bytes))),
        Attack(
            "70,000 empty fragments", at: .session, answer: "close 1002", "close 1009", "close 4103",
            sending: [ClientFrame.text("{", isFinal: false)].bytes
                + [[UInt8]](repeating: ClientFrame(opcode: 0, isFinal: false).bytes, count: 70_000).flatMap { $0 }
                + ClientFrame(opcode: 3).bytes),
        Attack(
            "text that is not UTF-8", at: .session, answer: "close 1007",
            sending: ClientFrame(payload: [123, 0xFF, 125]).bytes),
        Attack(
            "half of a surrogate pair", at: .session, answer: "close 1007",
            sending: ClientFrame(payload: [0xED, 0xA0, 0x80]).bytes),
        Attack(
            "a close frame of one byte", at: .session, answer: "close 1002",
            sending: ClientFrame(opcode: 8, payload: [3]).bytes),
        Attack(
            "a close frame with a reserved code", at: .session, answer: "close 1002",
            sending: ClientFrame(opcode: 8, payload: [3, 0xED]).bytes),
    ]
}
