// "Last seen" texts. They say how long ago, and not when, in server time, so they are right on a device with a wrong clock.
// Only the reader's midnight depends on a time zone. The discreet style protects privacy by being vague.

public import Foundation

/// Turns a presence into a line such as `Last seen today`, or `Do not disturb until 15:00`.
public struct LastSeenText: Sendable {
    public enum Style: Hashable, Sendable, CaseIterable {
        /// `Active now`, `Away`, `Last seen just now`, `3m ago`, `Active recently`, `Last seen today`, `Last seen
        /// yesterday`, `Last seen within a week`, `Last seen within a month`, `Last seen a long time ago`.
        case discreet
        /// `Active now`, `Away`, `Last seen just now`, `Last seen 3 minutes ago`, `Last seen 2 days ago`.
        case exact
    }

    /// English, discreet.
    public static let english = LastSeenText(language: .english)

    public var language: Language
    public var style: Style
    /// The reader's, which decides what is today, and what the clock shows.
    public var timeZone = TimeZone.autoupdatingCurrent
    package var hourCycle = Locale.autoupdatingCurrent.hourCycle

    /// Creates a text, by default in the user's language, which is ``Language/current``.
    public init(language: Language = .current, style: Style = .discreet) {
        self.language = language
        self.style = style
    }

    /// Returns the text for the time `now` (``RollcallClient/serverTime``). Empty if the presence is unknown, or if the
    /// user is offline and was never seen.
    public func text(for presence: Presence?, at now: Timestamp) -> String {
        guard let presence else { return "" }
        if presence.status != .offline {
            let line = text(for: presence.availability, until: presence.until, at: now)
            if !line.isEmpty { return line }
            return presence.status == .online ? language.words.lastSeen.now : language.words.presence.away
        }
        guard let lastSeen = presence.lastSeen else {
            return presence.isTimeless ? language.words.presence.offline : ""
        }
        let age = now.since(lastSeen)
        switch style {
        case .discreet: return discreet(age, isToday: lastSeen >= midnight(before: now))
        case .exact: return exact(age)
        }
    }

    /// `Busy`, `Do not disturb until 15:00`, or with the day if that is not today. Empty if it has ended.
    func text(for availability: Availability?, until: Timestamp?, at now: Timestamp) -> String {
        let words = language.words.presence
        guard let availability, availability != .invisible, until.map({ $0 > now }) ?? true else { return "" }
        let status = availability == .dnd ? words.dnd : words.busy
        return until.map { words.until.filled([("status", status), ("time", clock($0, at: now))]) } ?? status
    }

    /// The reader's own clock of 12 or 24 hours, in the language.
    private func clock(_ time: Timestamp, at now: Timestamp) -> String {
        var locale = Locale.Components(identifier: language.id)
        locale.hourCycle = hourCycle
        locale.numberingSystem = "latn"
        var style = Date.FormatStyle(locale: Locale(components: locale), calendar: calendar, timeZone: timeZone)
            .hour().minute()
        if time >= midnight(after: now) { style = style.day().month() }
        return time.date.formatted(style)
    }

    /// How long the text stays correct if the presence does not change; `nil` if always. Ask for the text again then.
    public func validity(for presence: Presence?, at now: Timestamp) -> Duration? {
        if let until = presence?.until, presence?.status != .offline, until > now {
            return min(until, midnight(after: now)).since(now)
        }
        guard let presence, presence.status == .offline, let lastSeen = presence.lastSeen else { return nil }
        let age = max(.zero, now.since(lastSeen))
        if age < .minute { return .minute - now.since(lastSeen) }
        let steps: [(unit: Duration, until: Duration)] =
            switch style {
            case .discreet:
                [(.minute, .minute * 5), (.hour, .hour), (.day, .day), (.week, .week), (.month, .month)]
            case .exact: [(.minute, .hour), (.hour, .day), (.day, .day * 100_000)]
            }
        guard let step = steps.first(where: { age < $0.until }) else { return nil }
        let whole = age.milliseconds / step.unit.milliseconds + 1
        let left = Duration.milliseconds(whole * step.unit.milliseconds) - age
        // "Today" ends at midnight, at the latest.
        guard step.unit == .day, style == .discreet, lastSeen >= midnight(before: now) else { return left }
        return min(left, midnight(after: now).since(now))
    }

    private func midnight(before now: Timestamp) -> Timestamp { Timestamp(calendar.startOfDay(for: now.date)) }

    private func midnight(after now: Timestamp) -> Timestamp {
        let day = calendar.dateInterval(of: .day, for: now.date)
        return day.map { Timestamp($0.end) } ?? now.advanced(by: .day)
    }

    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }

    private func discreet(_ age: Duration, isToday: Bool) -> String {
        let words = language.words.lastSeen
        if age < .minute { return words.justNow }
        if age < .minute * 5 { return language.text(of: words.minutes, count: age.whole(.minute)) }
        if age < .hour { return words.recently }
        if age < .day { return isToday ? words.today : words.yesterday }
        return age < .week ? words.week : age < .month ? words.month : words.longAgo
    }

    private func exact(_ age: Duration) -> String {
        let words = language.words.lastSeen
        if age < .minute { return words.justNow }
        if age < .hour { return language.text(of: words.minutesAgo, count: age.whole(.minute)) }
        if age < .day { return language.text(of: words.hoursAgo, count: age.whole(.hour)) }
        return language.text(of: words.daysAgo, count: age.whole(.day))
    }
}

extension Timestamp {
    /// The same moment for Foundation.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Rounded up, so that nothing that ends then is asked for again before.
    fileprivate init(_ date: Date) { self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.up))) }
}

extension Duration {
    fileprivate static let minute = Duration.seconds(60)
    fileprivate static let hour = minute * 60
    fileprivate static let day = hour * 24
    fileprivate static let week = day * 7
    fileprivate static let month = day * 30

    fileprivate func whole(_ unit: Duration) -> Int { Int(milliseconds / unit.milliseconds) }
}

/// The colour role of a user's presence.
public enum PresenceDot: String, Hashable, Sendable, CaseIterable {
    /// Online.
    case green
    /// Away.
    case amber
    /// Offline.
    case grey
    /// Unknown, or never seen.
    case none

    public init(_ presence: Presence?) {
        switch presence?.status {
        case .online: self = .green
        case .away: self = .amber
        case .offline: self = presence?.lastSeen == nil && presence?.isTimeless != true ? .none : .grey
        case nil: self = .none
        }
    }

    /// What the colour means, for screen readers; empty if there is no dot.
    public func label(in language: Language = .current) -> String {
        let words = language.words.presence
        return switch self {
        case .green: words.online
        case .amber: words.away
        case .grey: words.offline
        case .none: ""
        }
    }
}

/// How many users of a group are online: `3 of 5 online`.
public struct GroupCount: Hashable, Sendable, CustomStringConvertible {
    public let online: Int
    public let total: Int
    /// Whether more may be online, because the group is larger than what is listed of it: `312+ of 5000 online`.
    public let isLeast: Bool

    /// - Parameters:
    ///   - presences: the known presences. Only users with the status `online` count.
    ///   - total: the size of the group, including users whose presence is unknown.
    ///   - listed: how many of the group are listed; `nil` for all.
    public init(of presences: some Sequence<Presence>, total: Int, listed: Int? = nil) {
        online = presences.count { $0.status == .online }
        self.total = total
        isLeast = (listed ?? total) < total
    }

    /// The text in a language.
    public func text(in language: Language) -> String {
        language.words.presence.group[language.plural.category(of: online)]
            .filled([("online", "\(online)\(isLeast ? "+" : "")"), ("total", String(total))])
    }

    /// The text in English.
    public var description: String { text(in: .english) }
}
