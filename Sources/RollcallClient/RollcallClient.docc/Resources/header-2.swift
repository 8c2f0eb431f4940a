import RollcallClient
import SwiftUI

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
