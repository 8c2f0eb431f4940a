// The terminal as the kernel has it: who may use it, how large it is, and whether it hands over keys or lines.

import Foundation
import RollcallTerminal

/// The terminal at standard output, and at standard input where keys are read.
struct TerminalDevice {
    private let input = STDIN_FILENO
    private let output = STDOUT_FILENO
    /// As the person had it.
    private let usual: termios?

    init() {
        var settings = termios()
        usual = tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }

    /// What standard output can do.
    static var kind: TerminalKind {
        TerminalKind(isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment)
    }

    /// Whether a person's keys come in.
    static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether the terminal is ours: not with `&`, and not after `bg`.
    static var isInForeground: Bool {
        let group = tcgetpgrp(STDOUT_FILENO)
        return group < 0 || group == getpgrp()
    }

    /// Keys come at once and unseen. Ctrl-C, Ctrl-Z and Ctrl-\ go on being signals; Ctrl-S no longer holds output back.
    func takeKeys() {
        guard var settings = usual else { return }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL)
        tcsetattr(input, TCSANOW, &settings)
    }

    /// As it was. What was typed and not read is dropped: a shell would take a pasted text for commands.
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
