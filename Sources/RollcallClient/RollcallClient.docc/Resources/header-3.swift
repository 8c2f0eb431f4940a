import RollcallClient
import SwiftUI

struct Chat: View {
    @Environment(\.scenePhase) private var scenePhase
    @State private var bob: PresenceModel
    @State private var chat: TypingModel
    private let rollcall: RollcallClient
    private let send: @MainActor (String) async -> Void

    init(from rollcall: RollcallClient, send: @escaping @MainActor (String) async -> Void) {
        _bob = State(initialValue: PresenceModel(of: "bob", from: rollcall))
        _chat = State(initialValue: TypingModel(in: "c42", from: rollcall))
        self.rollcall = rollcall
        self.send = send
    }

    var body: some View {
        ChatHeader(bob: bob, chat: chat)
        TextField("Message", text: $chat.draft)
            .onSubmit {
                let message = chat.draft
                chat.sends()
                Task { await send(message) }
            }
            .onChange(of: scenePhase, initial: true) { rollcall.setPhase(AppPhase(scenePhase)) }
    }
}

struct ChatHeader: View {
    let bob: PresenceModel
    let chat: TypingModel

    var body: some View {
        VStack {
            HStack {
                Circle().fill(color).frame(width: 10, height: 10).accessibilityLabel(bob.dot.label())
                Text("Bob")
            }
            Text(chat.text.isEmpty ? bob.text : chat.text)
        }
    }

    private var color: Color {
        switch bob.dot {
        case .green: .green
        case .amber: .orange
        case .grey: .gray
        case .none: .clear
        }
    }
}
