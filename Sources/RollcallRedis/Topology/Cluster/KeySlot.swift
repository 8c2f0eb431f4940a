// Where a name lies in a Redis Cluster: the part of it between its first braces says in which of the slots, for keys and
// for channels alike.

/// The slots of a Redis Cluster.
enum KeySlot {
    static let count = 16_384

    /// The slot of a key or a channel.
    static func of(_ name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
                let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
            else { return of(UnsafeRawBufferPointer(bytes)) }
            return of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(open + 1)..<close]))
        }
    }

    /// The slot of all names with this tag.
    static func of(tag: String) -> Int {
        var tag = tag
        return tag.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    private static func of(_ bytes: UnsafeRawBufferPointer) -> Int {
        var checksum: UInt16 = 0
        for byte in bytes { checksum = checksum << 8 ^ table[Int(UInt8(checksum >> 8) ^ byte)] }
        return Int(checksum) % count
    }

    /// CRC16 in the form that is called XMODEM: each byte's share.
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { share, _ in share & 0x8000 == 0 ? share << 1 : share << 1 ^ 0x1021 }
    }
}
