// What the app reports about its device and its user's input. All methods return at once and may be called on any
// thread.

extension RollcallClient {
    /// Reports the app's phase, as the platform reports it.
    ///
    /// In the background, the user's typing ends at once in all conversations. When the app returns from the
    /// background, the client checks whether the connection still works, or reconnects at once if it is disconnected.
    public func setPhase(_ phase: AppPhase) {
        engine.run { $0.phaseChanged(to: phase) }
    }

    /// Sets the device's state directly, for apps that know more than phases and input show.
    ///
    /// `.idle` lasts until input, the phase ``AppPhase/active`` or another state is reported; `.background` until that
    /// phase or another state. `.background` ends the user's typing at once.
    public func setState(_ state: DeviceState) {
        engine.run { $0.stateSet(state) }
    }

    /// Reports that the user touched the device. Once an app has called this, the device is idle when
    /// ``ClientOptions/idleAfter`` has passed since the last call.
    public func inputHappened() {
        engine.run { $0.inputHappened() }
    }

    /// Reports that the network is back or has changed. A disconnected client reconnects at once; a connected one
    /// checks whether its connection still works, and reconnects if there is no answer within three seconds. A connection
    /// attempt is restarted once it has lasted a second; with each restart, this time doubles.
    public func networkChanged() {
        engine.run { $0.connector.networkChanged() }
    }

    /// Returns a typing input for one input field. The conversation stays joined until the input is released or
    /// ``TypingInput/disappeared()`` is called.
    public func typingInput(in conversation: ConversationID) -> TypingInput {
        TypingInput(in: conversation, of: self)
    }
}
