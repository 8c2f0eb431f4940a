// Reads whose replies may be large go out as earlier ones come in. All at once after a reconnect, their replies would exceed
// what many services let Redis hold for a client (client-output-buffer-limit), which ends the connection, and so for ever.

import NIOCore

/// The large reads of one connection, in order, bounded by the bytes that their replies are expected to have.
final class ReadWindow {
    enum Kind: Hashable {
        case record, person, room
    }

    /// The most bytes that are under way, unless a single read has more.
    static let most = 256 * 1024
    /// The most bytes of one portion of a read.
    private static let portion = 64 * 1024

    /// What a reply of each kind may have: rises at once, and falls slowly. Large at the beginning, when nothing is known.
    private var sizes: [Kind: Int] = [.record: 2048, .person: 2048, .room: 65_536]
    private var underWay = 0
    private var waiting = CircularBuffer<(kind: Kind, count: Int, begin: (_ done: @escaping (Int) -> Void) -> Void)>()

    /// How many reads of this kind make a portion.
    func portion(of kind: Kind) -> Int { max(8, Self.portion / size(of: kind)) }

    private func size(of kind: Kind) -> Int { max(64, sizes[kind] ?? 0) }

    /// Begins reads in their turn.
    ///
    /// - Parameter begin: sends them, and calls `done` once all have ended, with the bytes of the largest reply.
    func enter(_ kind: Kind, count: Int, _ begin: @escaping (_ done: @escaping (Int) -> Void) -> Void) {
        waiting.append((kind, count, begin))
        next()
    }

    private func next() {
        while let first = waiting.first {
            let cost = first.count * size(of: first.kind)
            guard underWay == 0 || underWay + cost <= Self.most else { return }
            waiting.removeFirst()
            underWay += cost
            first.begin { [self] bytes in
                underWay -= cost
                let known = size(of: first.kind)
                sizes[first.kind] = bytes > known ? bytes : known - (known - bytes) / 16
                next()
            }
        }
    }
}
