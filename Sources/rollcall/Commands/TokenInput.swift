import ArgumentParser
import Foundation

/// Where a command has a token from: a file, standard input or the environment. Never its arguments, which every
/// program on the machine may read.
enum TokenInput {
    /// Reads a token.
    ///
    /// - Parameters:
    ///   - file: the file's path, or `-` for standard input; of either the first line counts.
    ///   - variable: the variable of the environment that counts without one.
    /// - Returns: `nil` if neither is given.
    static func token(file: String?, variable: String) throws -> String? {
        guard let file else {
            let token = ProcessInfo.processInfo.environment[variable]?.trimmingCharacters(in: .whitespacesAndNewlines)
            return token?.isEmpty == true ? nil : token
        }
        if file == "-" {
            guard let token = firstLine(of: readLine() ?? "") else {
                throw ValidationError("no token came on standard input")
            }
            return token
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw ValidationError("the token file \(file) cannot be read")
        }
        guard let token = firstLine(of: text) else { throw ValidationError("the token file \(file) is empty") }
        return token
    }

    /// A worker's own file may have the token before on a second line.
    private static func firstLine(of text: String) -> String? {
        let line = text.split(whereSeparator: \.isNewline).first?.trimmingCharacters(in: .whitespaces)
        return line?.isEmpty == false ? line : nil
    }
}
