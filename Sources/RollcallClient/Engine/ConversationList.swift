// A list of conversations, observed with one call.

extension Engine {
    /// Emits at most one value per tick, however many rows have changed.
    func observeConversations(
        _ rows: [ConversationID: [UserID]], _ mailbox: Mailbox<[ConversationID: ConversationState]>
    ) {
        begin(mailbox) {
            var states = rows.keys.reduce(into: [:]) {
                $0[$1] = ConversationState(typing: Typing(conversation: $1), presences: [:])
            }
            var isDue = false
            let changed: () -> Void = { [unowned self] in
                guard !isDue else { return }
                isDue = true
                atEndOfTick {
                    isDue = false
                    mailbox.put(states)
                }
            }
            let rowsOf = rows.reduce(into: [UserID: [ConversationID]]()) { rowsOf, row in
                for user in Set(row.value) { rowsOf[user, default: []].append(row.key) }
            }
            var endings = rows.keys.sorted().map { conversation in
                observe(conversation) {
                    $0.typing.add {
                        states[conversation]?.typing = $0
                        changed()
                    }
                }
            }
            endings.append(
                people.observe(rowsOf.keys.sorted()) { presence in
                    for row in rowsOf[presence.user] ?? [] { states[row]?.presences[presence.user] = presence }
                    changed()
                })
            changed()
            return { for end in endings { end() } }
        }
    }
}
