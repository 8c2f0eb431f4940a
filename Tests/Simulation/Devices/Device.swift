// What a device is to the rest of the world, whoever keeps it: a model of a good client, or the client that ships.

internal import RollcallCore
internal import RollcallModel

/// One device of one user, and what its person does with it.
protocol Device: AnyObject {
    var index: Int { get }
    var user: UserID { get }
    var device: DeviceID { get }
    var chance: Chance { get }
    var route: Route { get }
    /// Whether its person can do anything with it now.
    var isInUse: Bool { get }
    /// Its connection, once a worker has welcomed it.
    var session: EdgeSession? { get }
    /// Whether something that its person has said or done is still to be sent, at its worker's rate.
    var hasMoreToSay: Bool { get }
    /// What its worker must let it follow.
    var watched: Set<UserID> { get }
    var joined: Set<ConversationID> { get }

    func come(after pause: Duration)
    func goodbye()
    func lose(_ loss: Loss)
    /// - Parameter isPaced: whether it keeps to its worker's rate, where that is for the person to say.
    func change(to state: DeviceState, isPaced: Bool)
    func watch(_ user: UserID)
    func unwatch(_ user: UserID)
    func join(_ conversation: ConversationID)
    func leave(_ conversation: ConversationID)
    func lookUp(_ users: [UserID])
    func types(in conversation: ConversationID)
    func stopsTyping(in conversation: ConversationID)

    func received(_ message: ServerMessage, over connection: Connection)
    /// The run is over: lets go of all that holds the world.
    func end()
}

extension Device {
    func change(to state: DeviceState) { change(to: state, isPaced: true) }
}

/// How a connection is lost: by FIN, by RST, or without a word.
enum Loss: CaseIterable { case closed, reset, silent }
