import RollcallClient
import SwiftUI

struct ChatHeader: View {
    let bob: PresenceModel
    let chat: TypingModel

    var body: some View {
        VStack {
            Text("Bob")
            Text(chat.text.isEmpty ? bob.text : chat.text)
        }
    }
}
