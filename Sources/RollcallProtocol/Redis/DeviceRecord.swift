// A device in `presence:{USER}`: six words, to which later versions may add more.

/// The value of the field `device:DEVICE`: `STATE INCARNATION SESSION SEQ SINCE LOST`.
public struct DeviceRecord: Hashable, Sendable {
    /// `nil` for a device that is gone. Its record stays for a while, so that late writes of its session are rejected.
    /// An unknown state, from a later version, counts as `background`: the device is connected but adds nothing to the
    /// presence.
    public var state: DeviceState?
    /// The incarnation that wrote the record and holds the device.
    public var incarnation: Incarnation
    /// When the session began, in Redis time: the first half of its SESSION word.
    public var began: Timestamp
    /// The worker's identifier of the session: the second half of its SESSION word.
    public var session: SessionID
    /// The number of decisions that the session had made when it wrote this.
    public var sequence: Int64
    /// Since when the device has been in this state.
    public var since: Timestamp
    /// When the connection was lost, if the device is in its grace period; until when the user was present, if it is
    /// gone.
    public var lost: Timestamp?

    public init(
        state: DeviceState?, incarnation: Incarnation, began: Timestamp, session: SessionID, sequence: Int64,
        since: Timestamp, lost: Timestamp?
    ) {
        self.state = state
        self.incarnation = incarnation
        self.began = began
        self.session = session
        self.sequence = sequence
        self.since = since
        self.lost = lost
    }

    /// Reads a record. Words after the sixth are from later versions and ignored.
    ///
    /// - Returns: `nil` if the text is not a record, because a word is missing or a number is invalid.
    public init?(_ text: ByteString) {
        guard let record = text.utf8.withBytes({ DeviceWords($0).flatMap(DeviceRecord.init) }) else { return nil }
        self = record
    }

    /// - Returns: `nil` if the words are not UTF-8.
    package init?(_ words: DeviceWords) {
        guard let incarnation = ByteString(validating: words.incarnation),
            let random = ByteString(validating: words.random)
        else { return nil }
        self.init(
            state: words.state, incarnation: Incarnation(name: incarnation),
            began: Timestamp(milliseconds: words.began), session: SessionID(random: random), sequence: words.sequence,
            since: Timestamp(milliseconds: words.since),
            lost: words.lost == 0 ? nil : Timestamp(milliseconds: words.lost))
    }
}

extension DeviceRecord: CustomStringConvertible {
    public var description: String {
        let state = state?.rawValue ?? "gone"
        return "\(state) \(incarnation) \(began.milliseconds)-\(session) \(sequence) \(since.milliseconds) "
            + "\(lost?.milliseconds ?? 0)"
    }
}
