import ArgumentParser
import Foundation

/// Reads a token from a file, standard input or the environment. Tokens are never arguments, since every program on the
/// machine can read those.
enum TokenInput {
    /// Returns the token.
    ///
    /// - Parameters:
    ///   - file: the path of a file, or `-` for standard input. Its first line is used.
    ///   - variable: the environment variable to use if there is no file.
    /// - Returns: `nil` if neither is given.
    static func token(file: String?, variable: String) throws -> String? {
        guard let file else {
            let token = ProcessInfo.processInfo.environment[variable]?.trimmingCharacters(in: .whitespacesAndNewlines)
            return token?.isEmpty == true ? nil : token
        }
        if file == "-" {
            guard let token = firstLine(of: readLine() ?? "") else {
                throw ValidationError("there is no token on standard input")
            }
            return token
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw ValidationError("the token file \(file) cannot be read")
        }
        guard let token = firstLine(of: text) else { throw ValidationError("the token file \(file) is empty") }
        return token
    }

    /// Returns the first line. A worker's own token file may contain the previous token on a second line.
    private static func firstLine(of text: String) -> String? {
        let line = text.split(whereSeparator: \.isNewline).first?.trimmingCharacters(in: .whitespaces)
        return line?.isEmpty == false ? line : nil
    }
}
