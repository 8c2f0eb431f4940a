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
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 6, !words[0].isEmpty, let hyphen = words[2].firstIndex(of: "-"),
            let began = Int64(words[2][..<hyphen]), let sequence = Int64(words[3]), let since = Int64(words[4]),
            let lost = Int64(words[5])
        else { return nil }
        self.init(
            state: words[0] == "gone" ? nil : DeviceState(rawValue: String(words[0])) ?? .background,
            incarnation: Incarnation(name: String(words[1])),
            began: Timestamp(milliseconds: began),
            session: SessionID(random: String(words[2][words[2].index(after: hyphen)...])),
            sequence: sequence, since: Timestamp(milliseconds: since),
            lost: lost == 0 ? nil : Timestamp(milliseconds: lost))
    }
}

extension DeviceRecord: CustomStringConvertible {
    public var description: String {
        let state = state?.rawValue ?? "gone"
        return "\(state) \(incarnation) \(began.milliseconds)-\(session) \(sequence) \(since.milliseconds) "
            + "\(lost?.milliseconds ?? 0)"
    }
}
