// The other end of a child's lifeline: a worker of `rollcall dev` outlives nobody.

import Foundation
import Spawning

/// Standard input as a sign of life of whoever started this process.
enum Lifeline {
    /// Ends this process when standard input ends. At once: with its parent gone, so is the Redis that it would tell.
    static func exitAtEnd() {
        DescriptorReader.read(.standardInput, bytes: { _ in true }, end: { exit(0) })
    }
}
