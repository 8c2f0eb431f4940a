// Handles Ctrl-Z. A program that has changed the terminal must restore it first. It then stops through the same signal,
// so that its parent (a shell) sees the same as for any other program.

import Foundation

/// Stops this process.
enum Suspension {
    /// Stops the process with the default action of `signal`, and returns when it continues. If no shell with job
    /// control could continue it, the kernel does not stop it, and this returns at once.
    static func stop(by signal: Int32) {
        var usual = sigaction()
        var before = sigaction()
        sigemptyset(&usual.sa_mask)
        sigaction(signal, &usual, &before)
        var mask = sigset_t()
        var maskBefore = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, signal)
        // The signal goes to this thread, so that the process stops here and not a few moments later.
        pthread_sigmask(SIG_UNBLOCK, &mask, &maskBefore)
        pthread_kill(pthread_self(), signal)
        pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        sigaction(signal, &before, nil)
    }
}
