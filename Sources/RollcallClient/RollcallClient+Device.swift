// What a client says of its own device.

extension RollcallClient {
    /// The app's phase, as the platform tells it. Background ends one's typing at once; a return to the front checks
    /// that the connection still lives.
    public func setPhase(_ phase: AppPhase) {
        engine.run { $0.phaseChanged(to: phase) }
    }

    /// The device's state outright, for an app that knows better than phases and input tell.
    public func setState(_ state: DeviceState) {
        engine.run { $0.stateSet(state) }
    }

    /// The person touched this device. An app that calls this is idle ``ClientOptions/idleAfter`` the last such call.
    public func inputHappened() {
        engine.run { $0.inputHappened() }
    }

    /// The network came back or changed: tries at once instead of waiting, or checks that the connection still lives.
    public func networkChanged() {
        engine.run { $0.connector.networkChanged() }
    }

    /// One's own typing in a conversation, to be fed by one input field. While it is held (until
    /// ``TypingInput/disappeared()``), the conversation is joined.
    public func typingInput(in conversation: ConversationID) -> TypingInput {
        TypingInput(in: conversation, of: self)
    }
}
