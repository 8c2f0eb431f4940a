// A device as it stands in `presence:{USER}`: six words, to which later versions may add more.

/// The value of the field `device:DEVICE`: `STATE INCARNATION SESSION SEQ SINCE LOST`.
public struct DeviceRecord: Hashable, Sendable {
    /// `nil` for a device that is gone: its record stays for a while so that late writes of its session lose. A state
    /// that only a later version knows reads as `background`: the device is there, and says nothing of its person.
    public var state: DeviceState?
    /// The incarnation that wrote the record, and answers for it.
    public var incarnation: Incarnation
    /// When the session began, by Redis time: the first half of its SESSION word.
    public var began: Timestamp
    /// The worker's name for the session: the second half of its SESSION word.
    public var session: SessionID
    /// How many decisions the session had taken when it wrote this.
    public var sequence: Int64
    /// Since when the device has been in this state.
    public var since: Timestamp
    /// When the device's connection was lost, if it is in grace; when somebody was last there, if it is gone.
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

    /// Reads a record; words after the sixth are a later version's and ignored.
    ///
    /// - Returns: `nil` if the text is no record: a missing word or a number that is none.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let record = text.withUTF8({ DeviceWords(UnsafeRawBufferPointer($0)).flatMap(DeviceRecord.init) }) else {
            return nil
        }
        self = record
    }

    /// - Returns: `nil` if the words are not UTF-8.
    package init?(_ words: DeviceWords) {
        guard let incarnation = String(validating: words.incarnation, as: UTF8.self),
            let random = String(validating: words.random, as: UTF8.self)
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
