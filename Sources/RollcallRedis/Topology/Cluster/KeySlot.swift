// The slot of a name in a Redis Cluster. The part between the first braces determines it, for keys and channels alike.

/// The slots of a Redis Cluster.
enum KeySlot {
    static let count = 16_384

    /// Returns the slot of a key or a channel.
    static func of(_ name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
                let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
            else { return of(UnsafeRawBufferPointer(bytes)) }
            return of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(open + 1)..<close]))
        }
    }

    /// Returns the slot of all names with this hash tag.
    static func of(tag: String) -> Int {
        var tag = tag
        return tag.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    private static func of(_ bytes: UnsafeRawBufferPointer) -> Int { Checksum(of: bytes).slot }

    /// The checksum that determines a slot: CRC-16/XMODEM, computed byte by byte.
    struct Checksum {
        private var value: UInt16 = 0

        init(of bytes: some Sequence<UInt8>) {
            for byte in bytes { add(byte) }
        }

        mutating func add(_ byte: UInt8) {
            value = value << 8 ^ table[Int(UInt8(value >> 8) ^ byte)]
        }

        var slot: Int { Int(value) % count }
    }

    /// The contribution of each byte value.
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { share, _ in share & 0x8000 == 0 ? share << 1 : share << 1 ^ 0x1021 }
    }
}
