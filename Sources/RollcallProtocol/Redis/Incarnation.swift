// Which incarnation holds a session, and which session it is: two names in every device's record.

/// One unbroken life of a worker's lease, such as `w1.3f9a2c`: the worker's id, a dot and a random part.
///
/// Redis knows a worker only by this name. A worker that loses its lease continues under a new one; a lost incarnation
/// is never revived.
public struct Incarnation: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let name: ByteString

    public init(name: ByteString) {
        self.name = name
    }

    /// Creates a new incarnation of the worker `id`, distinguished from its others by 48 random bits.
    public init(worker id: String, using random: inout some RandomNumberGenerator) {
        name = ByteString(id + "." + randomName(bits: 48, using: &random))
    }

    /// The configured `worker.id` of the worker.
    public var worker: ByteString { name.cut(atLast: ".")?.before ?? name }

    public var description: String { name.string }

    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// The random part of a session's name, generated when the session begins. `welcome` contains it.
public struct SessionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let random: ByteString

    public init(random: ByteString) {
        self.random = random
    }

    /// Generates 60 random bits: their 15 digits are stored in the `String` itself, without an allocation, since a
    /// worker keeps very many of these.
    public init(using random: inout some RandomNumberGenerator) {
        self.random = ByteString(randomName(bits: 60, using: &random))
    }

    public var description: String { random.string }

    public static func < (left: Self, right: Self) -> Bool { left.random < right.random }
}

/// Returns `bits` random bits as hexadecimal digits, with leading zeros.
private func randomName(bits: Int, using random: inout some RandomNumberGenerator) -> String {
    let digits = bits / 4
    let text = String(UInt64.random(in: 0...(UInt64.max >> (64 - bits)), using: &random), radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
}
