// Small views for what an app shows most often. They are a product of their own: who needs others, writes them over the same
// models. Type-checked where Apple's SDK is not (`make lint`), and not run there.

#if canImport(SwiftUI)
    public import Foundation
    public import RollcallClient
    public import SwiftUI

    /// Who is typing in a conversation, beside moving dots. Takes no space while no user is typing.
    ///
    /// A screen reader reads the sentence without dots, and announces it when the set of people changes.
    public struct TypingIndicator: View {
        private let chat: TypingModel

        public init(_ chat: TypingModel) {
            self.chat = chat
        }

        public var body: some View {
            HStack(spacing: 6) {
                if !chat.typing.isEmpty {
                    TypingDotsView()
                    Text(verbatim: chat.sentence).font(.footnote).foregroundStyle(.secondary).lineLimit(1)
                }
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: chat.label))
            .accessibilityHidden(chat.typing.isEmpty)
            .onChange(of: chat.announcement) {
                if !chat.announcement.isEmpty { AccessibilityNotification.Announcement(chat.announcement).post() }
            }
        }
    }

    /// Three dots in turn; they stand still if the user prefers reduced motion. Decoration: a screen reader skips them.
    public struct TypingDotsView: View {
        @SwiftUI.Environment(\.accessibilityReduceMotion) private var reducesMotion
        @State private var start = Date.now
        private let size: CGFloat

        /// - Parameter size: the diameter of a dot, in points.
        public init(size: CGFloat = 6) {
            self.size = size
        }

        public var body: some View {
            TimelineView(.animation(minimumInterval: 1.0 / 30, paused: reducesMotion)) { moment in
                HStack(spacing: size / 2) {
                    ForEach(Array(opacities(at: moment.date).enumerated()), id: \.offset) { dot in
                        Circle().frame(width: size, height: size).opacity(dot.element)
                    }
                }
            }
            .foregroundStyle(.secondary)
            .accessibilityHidden(true)
        }

        private func opacities(at date: Date) -> [Double] {
            TypingDots(after: .seconds(date.timeIntervalSince(start)), reducesMotion: reducesMotion).opacities
        }
    }

    /// A user's dot: green, orange or grey; nothing for a user who is unknown. A screen reader reads what it means.
    public struct PresenceDotView: View {
        private let dot: PresenceDot
        private let size: CGFloat
        private let language: Language

        /// - Parameter size: the diameter, in points.
        public init(_ dot: PresenceDot, size: CGFloat = 10, language: Language = .current) {
            (self.dot, self.size, self.language) = (dot, size, language)
        }

        public var body: some View {
            Circle().fill(colour).frame(width: size, height: size)
                .accessibilityElement(children: .ignore)
                .accessibilityLabel(Text(verbatim: dot.label(in: language)))
                .accessibilityHidden(dot == .none)
        }

        private var colour: Color {
            switch dot {
            case .green: .green
            case .amber: .orange
            case .grey: .gray
            case .none: .clear
            }
        }
    }

    /// A user's dot, and when they were last seen. The text is updated as time passes.
    public struct LastSeenLabel: View {
        private let person: PresenceModel

        public init(_ person: PresenceModel) {
            self.person = person
        }

        public var body: some View {
            HStack(spacing: 6) {
                PresenceDotView(person.dot)
                Text(verbatim: person.text).font(.footnote).foregroundStyle(.secondary)
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: person.text))
        }
    }

    /// Says that the connection has been down for some seconds (``ClientOptions/staleAfter``). Takes no space otherwise.
    ///
    /// Its two texts are looked up in the app's own string catalogue.
    public struct ConnectionBanner: View {
        private let connection: ConnectionModel
        private let connecting: LocalizedStringKey
        private let failed: LocalizedStringKey

        /// - Parameters:
        ///   - connecting: while the client tries again.
        ///   - failed: after the client has given up; the app must do something, such as sign in again.
        public init(
            _ connection: ConnectionModel, connecting: LocalizedStringKey = "Connecting…",
            failed: LocalizedStringKey = "Not connected"
        ) {
            (self.connection, self.connecting, self.failed) = (connection, connecting, failed)
        }

        public var body: some View {
            if let text {
                Text(text).font(.footnote).frame(maxWidth: .infinity).padding(6).background(.thinMaterial)
                    .accessibilityAddTraits(.updatesFrequently)
            }
        }

        private var text: LocalizedStringKey? {
            if case .failed = connection.state { return failed }
            return connection.isStale ? connecting : nil
        }
    }
#endif
