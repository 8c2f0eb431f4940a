// Small views for what an app shows most often. They are a product of their own: who needs others, writes them over the same
// models. Type-checked where Apple's SDK is not (`make lint`), and not run there.

#if canImport(SwiftUI)
    public import Foundation
    public import RollcallClient
    public import SwiftUI

    /// Who is typing in a conversation, beside moving dots. Fades in and out, unless the user prefers reduced motion, and takes no
    /// space while no user is typing.
    ///
    ///     TypingIndicator(chat, style: .bubble) { InitialView(friend.name) }
    ///
    /// A screen reader reads the sentence without dots, and announces it when it changes.
    public struct TypingIndicator<Leading: View>: View {
        @SwiftUI.Environment(\.accessibilityReduceMotion) private var reducesMotion
        private let chat: TypingModel
        private let style: TypingIndicatorStyle
        private let leading: Leading

        /// - Parameters:
        ///   - style: how it looks.
        ///   - leading: what stands before it, such as an ``InitialView`` or the app's own avatar.
        public init(
            _ chat: TypingModel, style: TypingIndicatorStyle = .line, @ViewBuilder leading: () -> Leading
        ) {
            (self.chat, self.style, self.leading) = (chat, style, leading())
        }

        public var body: some View {
            VStack(alignment: .leading, spacing: 0) {
                if !chat.typing.isEmpty {
                    content
                        .transition(.opacity)
                        .accessibilityElement(children: .ignore)
                        .accessibilityLabel(Text(verbatim: chat.label))
                }
            }
            .animation(reducesMotion ? nil : .default, value: chat.typing.isEmpty)
            .onChange(of: chat.announcement) {
                if !chat.announcement.isEmpty { AccessibilityNotification.Announcement(chat.announcement).post() }
            }
        }

        @ViewBuilder private var content: some View {
            switch style {
            case .line:
                HStack(spacing: 6) {
                    leading
                    TypingDotsView()
                    sentence.lineLimit(1)
                }
            case .bubble:
                HStack(alignment: .bottom, spacing: 6) {
                    leading
                    VStack(alignment: .leading, spacing: 2) {
                        TypingDotsView(size: 8).padding(10).background(Palette.bubble.colour, in: Capsule())
                        sentence.lineLimit(2)
                    }
                }
            }
        }

        private var sentence: some View {
            Text(verbatim: chat.sentence).font(.footnote).foregroundStyle(Palette.text.colour)
        }
    }

    extension TypingIndicator where Leading == EmptyView {
        public init(_ chat: TypingModel, style: TypingIndicatorStyle = .line) {
            self.init(chat, style: style) { EmptyView() }
        }
    }

    /// How a ``TypingIndicator`` looks.
    public enum TypingIndicatorStyle: Sendable {
        /// Dots and a sentence in one line, for the place above a field.
        case line
        /// Dots in a bubble, as a message, and the sentence below.
        case bubble
    }

    /// The initial of a name in a disc, where an app has no picture of its own. A screen reader skips it.
    public struct InitialView: View {
        @ScaledMetric private var size: CGFloat
        private let name: String?

        /// - Parameter size: the diameter in points at the usual type size.
        public init(_ name: String?, size: CGFloat = 24) {
            self.name = name
            _size = ScaledMetric(wrappedValue: size)
        }

        public var body: some View {
            Text(verbatim: name?.first.map { String($0).uppercased() } ?? "?")
                .font(.caption).foregroundStyle(Palette.text.colour)
                .frame(width: size, height: size).background(Palette.bubble.colour, in: Circle())
                .accessibilityHidden(true)
        }
    }

    /// Who else has a conversation open: a disc for each, the longest here first, and "+7" for those without room. Who is idle
    /// is faint. Takes no space while nobody else is here.
    ///
    ///     AvatarStack(page)
    ///     AvatarStack(page, maximum: 3) { Picture(of: $0.user) }
    ///
    /// A screen reader reads ``HereModel/label``: "Ada and Bob are here".
    public struct AvatarStack<Avatar: View>: View {
        @ScaledMetric private var size: CGFloat
        private let page: HereModel
        private let maximum: Int
        private let avatar: (HereUser) -> Avatar

        /// - Parameters:
        ///   - maximum: the most discs, that of the overflow included.
        ///   - size: their diameter in points at the usual type size.
        ///   - avatar: what stands for a user, in the given size.
        public init(
            _ page: HereModel, maximum: Int = 5, size: CGFloat = 28, @ViewBuilder avatar: @escaping (HereUser) -> Avatar
        ) {
            (self.page, self.maximum, self.avatar) = (page, maximum, avatar)
            _size = ScaledMetric(wrappedValue: size)
        }

        public var body: some View {
            if page.otherCount > 0 {
                HStack(spacing: -size / 4) {
                    ForEach(shown, id: \.user) {
                        avatar($0).frame(width: size, height: size).opacity($0.isIdle ? 0.5 : 1)
                    }
                    if page.otherCount > shown.count {
                        Text(verbatim: "+\(page.otherCount - shown.count)")
                            .font(.caption).foregroundStyle(Palette.text.colour)
                            .frame(width: size, height: size).background(Palette.bubble.colour, in: Circle())
                    }
                }
                .accessibilityElement(children: .ignore)
                .accessibilityLabel(Text(verbatim: page.label))
            }
        }

        private var shown: [HereUser] {
            Array(page.others.prefix(page.otherCount > maximum ? max(0, maximum - 1) : maximum))
        }
    }

    extension AvatarStack where Avatar == InitialView {
        /// With the users' initials.
        public init(_ page: HereModel, maximum: Int = 5, size: CGFloat = 28) {
            self.init(page, maximum: maximum, size: size) { InitialView($0.name?.string, size: size) }
        }
    }

    /// Three dots in turn; they stand still if the user prefers reduced motion. Decoration: a screen reader skips them.
    public struct TypingDotsView: View {
        @SwiftUI.Environment(\.accessibilityReduceMotion) private var reducesMotion
        @State private var start = Date.now
        @ScaledMetric private var size: CGFloat

        /// - Parameter size: the diameter of a dot in points at the usual type size.
        public init(size: CGFloat = 6) {
            _size = ScaledMetric(wrappedValue: size)
        }

        public var body: some View {
            TimelineView(.animation(paused: reducesMotion)) { moment in
                HStack(spacing: size / 2) {
                    ForEach(Array(opacities(at: moment.date).enumerated()), id: \.offset) { dot in
                        Circle().fill(Palette.text.colour).frame(width: size, height: size).opacity(dot.element)
                    }
                }
            }
            .accessibilityHidden(true)
        }

        private func opacities(at date: Date) -> [Double] {
            TypingDots(after: .seconds(date.timeIntervalSince(start)), reducesMotion: reducesMotion).opacities
        }
    }

    /// A user's dot: green, orange or grey; nothing for a user who is unknown. Where the user asks for more than colour, online is
    /// a disc, away a half, and offline a ring. A screen reader reads what it means.
    public struct PresenceDotView: View {
        @SwiftUI.Environment(\.accessibilityDifferentiateWithoutColor) private var hasShapes
        @ScaledMetric private var size: CGFloat
        private let dot: PresenceDot
        private let language: Language

        /// - Parameter size: the diameter in points at the usual type size.
        public init(_ dot: PresenceDot, size: CGFloat = 10, language: Language = .current) {
            (self.dot, self.language) = (dot, language)
            _size = ScaledMetric(wrappedValue: size)
        }

        public var body: some View {
            shape.frame(width: size, height: size)
                .accessibilityElement(children: .ignore)
                .accessibilityLabel(Text(verbatim: dot.label(in: language)))
                .accessibilityHidden(dot == .none)
        }

        @ViewBuilder private var shape: some View {
            switch dot {
            case .green: Circle().fill(Palette.online.colour)
            case .amber:
                Circle().trim(from: 0, to: hasShapes ? 0.5 : 1).fill(Palette.away.colour)
            case .grey:
                if hasShapes {
                    Circle().strokeBorder(Palette.offline.colour, lineWidth: size / 5)
                } else {
                    Circle().fill(Palette.offline.colour)
                }
            case .none: Color.clear
            }
        }
    }

    /// A user's dot, and when they were last seen. The text is updated as time passes. Nothing for a screen reader while that is
    /// unknown.
    public struct LastSeenLabel: View {
        private let person: PresenceModel

        public init(_ person: PresenceModel) {
            self.person = person
        }

        public var body: some View {
            HStack(spacing: 6) {
                PresenceDotView(person.dot)
                Text(verbatim: person.text).font(.footnote).foregroundStyle(Palette.text.colour)
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: person.text))
            .accessibilityHidden(person.text.isEmpty)
        }
    }

    /// Says that the connection has been down for some seconds (``ClientOptions/staleAfter``), or has failed, in the client's
    /// language (``ConnectionModel/text``). Takes no space otherwise.
    public struct ConnectionBanner: View {
        private let connection: ConnectionModel

        public init(_ connection: ConnectionModel) {
            self.connection = connection
        }

        public var body: some View {
            if !connection.text.isEmpty {
                Text(verbatim: connection.text).font(.footnote).foregroundStyle(Palette.text.colour)
                    .frame(maxWidth: .infinity).padding(6).background(Palette.bubble.colour)
                    .accessibilityAddTraits(.updatesFrequently)
            }
        }
    }

    extension Palette {
        /// Follows the appearance around it.
        var colour: Adaptive { Adaptive(light: Color(light), dark: Color(dark)) }
    }

    extension Color {
        fileprivate init(_ hex: UInt32) {
            let parts = [16, 8, 0].map { Double(hex >> $0 & 0xFF) / 255 }
            self.init(.sRGB, red: parts[0], green: parts[1], blue: parts[2], opacity: 1)
        }
    }

    /// A colour that is another one in the dark.
    struct Adaptive: ShapeStyle {
        let light: Color
        let dark: Color

        func resolve(in environment: EnvironmentValues) -> Color {
            environment.colorScheme == .dark ? dark : light
        }
    }
#endif
