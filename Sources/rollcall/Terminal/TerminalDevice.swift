// The terminal as the kernel sees it: which process group may use it, its size, and whether it delivers keys or lines.

import Foundation
import RollcallTerminal

/// The terminal at standard output, and at standard input if keys are read.
struct TerminalDevice {
    private let input = STDIN_FILENO
    private let output = STDOUT_FILENO
    /// The original settings.
    private let usual: termios?

    init() {
        var settings = termios()
        usual = tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }

    /// What standard output supports.
    static var kind: TerminalKind {
        TerminalKind(isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment)
    }

    /// Whether standard input is a terminal.
    static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether this process may use the terminal: it was not started with `&`, and not continued with `bg`.
    static var isInForeground: Bool {
        let group = tcgetpgrp(STDOUT_FILENO)
        return group < 0 || group == getpgrp()
    }

    /// Delivers keys at once and without echo. Ctrl-C, Ctrl-Z and Ctrl-\ remain signals; Ctrl-S no longer stops output.
    func takeKeys() {
        guard var settings = usual else { return }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL)
        tcsetattr(input, TCSANOW, &settings)
    }

    /// Restores the settings. Unread input is dropped: a shell would execute pasted text as commands.
    func restore() {
        guard var settings = usual else { return }
        tcsetattr(input, TCSAFLUSH, &settings)
    }

    var size: Size {
        var window = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }
}
