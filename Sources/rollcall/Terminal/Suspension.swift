// Ctrl-Z. A program that has changed the terminal puts it right first, and only then stops, by the very signal, so that
// whoever waits for it (a shell) sees what they would see of any other program.

import Foundation

/// Stops this process.
enum Suspension {
    /// Stops the process as `signal` would by itself, and returns once it goes on. Where nobody could continue it (no
    /// shell that knows jobs), the kernel does not stop it, and this returns at once.
    static func stop(by signal: Int32) {
        var usual = sigaction()
        var before = sigaction()
        sigemptyset(&usual.sa_mask)
        sigaction(signal, &usual, &before)
        var mask = sigset_t()
        var maskBefore = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, signal)
        // To this thread: so that it is here that the process stops, and not some moments later.
        pthread_sigmask(SIG_UNBLOCK, &mask, &maskBefore)
        pthread_kill(pthread_self(), signal)
        pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        sigaction(signal, &before, nil)
    }
}
