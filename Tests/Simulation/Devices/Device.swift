// What the simulation needs of a device: a model of a good client, or the real client.

internal import RollcallCore
internal import RollcallProtocol

/// One device of one user, and the actions of its user.
protocol Device: AnyObject {
    var index: Int { get }
    var user: UserID { get }
    var device: DeviceID { get }
    var chance: Chance { get }
    var route: Route { get }
    /// Whether its user can use it now.
    var isInUse: Bool { get }
    /// Its connection, once a worker has sent a welcome.
    var session: EdgeSession? { get }
    /// Whether it has the connection that it wants, and has sent every action of its user.
    var isAtRest: Bool { get }
    /// The subscriptions that its worker must accept.
    var watched: Set<UserID> { get }
    var joined: Set<ConversationID> { get }

    func come(after pause: Duration)
    func goodbye()
    func lose(_ loss: Loss)
    /// - Parameter isPaced: whether the device keeps to its worker's message rate, if the user decides that.
    func change(to state: DeviceState, isPaced: Bool)
    func watch(_ user: UserID)
    func unwatch(_ user: UserID)
    func join(_ conversation: ConversationID)
    func leave(_ conversation: ConversationID)
    func lookUp(_ users: [UserID])
    func types(in conversation: ConversationID)
    func stopsTyping(in conversation: ConversationID)

    func received(_ message: ServerMessage, over connection: Connection)
    /// Ends the run: drops references to the world.
    func end()
}

extension Device {
    func change(to state: DeviceState) { change(to: state, isPaced: true) }
}

/// How a connection is lost: by FIN, by RST, or silently.
enum Loss: CaseIterable { case closed, reset, silent }
