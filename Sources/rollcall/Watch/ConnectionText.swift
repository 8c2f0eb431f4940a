// The state of the connection as a sentence, with advice where the user can do something.

import RollcallClient

/// Describes the state of a connection.
struct ConnectionText: Hashable, Sendable {
    /// The URL at which the worker is expected.
    let url: String
    /// Whether the user gave a name instead of a token (`--as`).
    let saysName: Bool

    /// The sentence; `nil` if there is nothing to say yet.
    func sentence(for state: ConnectionState) -> String? {
        switch state {
        case .idle, .connecting, .closed: nil
        case .connected(let session): Shown.text("connected to \(session.worker) as \(session.user)")
        case .waiting(_, let reason): told("not connected: \(reason.message); trying again", reason)
        case .failed(let error): told("given up: \(error.message)", error)
        }
    }

    private func told(_ news: String, _ error: RollcallError) -> String {
        Shown.text(advice(on: error).map { "\(news). \($0)" } ?? news)
    }

    private func advice(on error: RollcallError) -> String? {
        switch error.code {
        case .unreachable:
            """
            Nobody answers at \(url). Start workers with `rollcall dev` or `rollcall worker`, or say with --url where \
            they listen.
            """
        case .invalidURL: "--url takes ws://HOST:PORT/v1/connect or wss://…, not \(url)."
        case .badToken where saysName:
            """
            --as works where workers take a name for a token (auth.mode: insecure). This one wants a token: \
            `rollcall token USER` makes one, with the secret of the worker, and --token-file takes it.
            """
        case .badToken:
            """
            Make a token with `rollcall token USER`, with the very secret, issuer and audience that the worker at \
            \(url) has; one made for a device wants that --device.
            """
        case .tokenExpired: "Make a new one with `rollcall token USER`; --lifetime says how long it is good."
        case .replaced: "Another terminal has the same --device; give this one another name."
        case .protocolError: "Is it a Rollcall worker of this version that listens at \(url)?"
        case .tooManySessions: "The worker's limits.sessions_per_user says how many a user may have."
        case .tooManyMessages, .sentAway, .refused, .notAMember, .limit, .badRequest, .tokenUnavailable,
            .connectionLost, .asked:
            nil
        }
    }
}
