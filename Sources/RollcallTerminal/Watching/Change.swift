// What a client's streams bring, in one type, so that one value takes it all.

package import RollcallClient

/// Something came from the client.
package enum Change: Hashable, Sendable {
    case connection(ConnectionState)
    case typing(Typing)
    case members(Members)
    case presence(Presence)
}
