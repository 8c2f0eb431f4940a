// The values of a client's streams as one type, so that one function can handle all.

package import RollcallClient

/// A value from one of the client's streams.
package enum Change: Hashable, Sendable {
    case connection(ConnectionState)
    case typing(Typing)
    case members(Members)
    case presence(Presence)
}
