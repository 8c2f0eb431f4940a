// The other end of a child's standard input: a worker of `rollcall dev` ends with its parent.

import Foundation
import Spawning

/// Standard input, which is open as long as the parent process runs.
enum Lifeline {
    /// Ends this process at once when standard input ends. Without its parent, its Redis is gone too.
    static func exitAtEnd() {
        DescriptorReader.read(.standardInput, bytes: { _ in true }, end: { exit(0) })
    }
}
