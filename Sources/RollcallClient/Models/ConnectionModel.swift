// The state of the connection, for views.

public import Observation

/// The state of the connection, for a view to observe. Updated on the main actor, until the model is released.
@MainActor @Observable
public final class ConnectionModel {
    public private(set) var state: ConnectionState

    @ObservationIgnored private var changes: Following?

    public init(of client: RollcallClient) {
        state = client.connectionState
        changes = client.connection.follow(for: self) { $0.state = $1 }
    }

    public var isConnected: Bool { state.isConnected }
}
