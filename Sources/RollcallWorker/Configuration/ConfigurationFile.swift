// The configuration file, flattened to keys and values. Each value keeps its line number for error messages.

import Foundation
import RollcallProtocol
import RollcallServer
import Yams

/// The values of a YAML file by key.
struct ConfigurationFile {
    struct Value: Hashable {
        /// List items are joined by commas.
        var text: String
        var line: Int
    }

    /// The file name without its folder, for messages.
    let name: String
    /// Every key with a value. A null value counts as absent.
    private(set) var values: [String: Value] = [:]
    private(set) var problems: [ConfigurationProblem] = []

    init(_ file: URL) {
        do throws(FileContents.Unreadable) {
            let bytes = try FileContents.read(file.path)
            self.init(name: file.lastPathComponent, yaml: String(decoding: bytes, as: UTF8.self), path: file.path)
        } catch {
            self.init(name: file.lastPathComponent)
            refuse(file.path, error.reason)
        }
    }

    /// Parses the contents of a file.
    init(name: String, yaml: String, path: String? = nil) {
        self.init(name: name)
        do {
            try flatten(Yams.Parser(yaml: yaml).singleRoot())
        } catch let error as YamlError {
            refuse(path ?? name, "this is not YAML: \(error.sentence)")
        } catch {
            refuse(path ?? name, "this is not YAML")
        }
    }

    private init(name: String) {
        self.name = name
    }

    private mutating func refuse(_ path: String, _ message: String) {
        problems.append(ConfigurationProblem(.unusableFile, "config", value: path, message))
    }

    private mutating func flatten(_ root: Yams.Node?) {
        guard let root, root != "" else { return }
        guard let mapping = root.mapping else {
            let message = "the file must consist of sections with keys, like Config/worker.yaml"
            problems.append(ConfigurationProblem(.malformed, "config", value: name, message))
            return
        }
        flatten(mapping, under: "")
    }

    private mutating func flatten(_ mapping: Yams.Node.Mapping, under section: String) {
        for (name, value) in mapping {
            let key = section + (name.scalar?.string ?? "?")
            switch value {
            case .mapping(let mapping): flatten(mapping, under: key + ".")
            case .sequence(let items) where items.contains { $0.mapping != nil }: add(Self.json(items), value, key)
            case .sequence(let items): add(items.map { $0.scalar?.string ?? "?" }.joined(separator: ","), value, key)
            case .scalar(let scalar): if value.null == nil { add(scalar.string, value, key) }
            case .alias: add("*", value, key)
            }
        }
    }

    /// A list of sections, as a flag or a variable would give it.
    private static func json(_ items: Yams.Node.Sequence) -> String {
        let sections = items.map { item in
            (item.mapping.map { Array($0) } ?? []).reduce(into: [String: Any]()) { section, pair in
                let value = pair.value
                if value.null == nil {
                    section[pair.key.scalar?.string ?? "?"] =
                        value.scalar?.string ?? value.sequence.map { $0.map { $0.scalar?.string ?? "?" } } ?? "?"
                }
            }
        }
        let text = try? JSONSerialization.data(
            withJSONObject: sections, options: [.sortedKeys, .withoutEscapingSlashes])
        return text.map { String(decoding: $0, as: UTF8.self) } ?? "?"
    }

    /// A key can be given twice, nested and dotted. The parser does not detect that.
    private mutating func add(_ text: String, _ node: Yams.Node, _ key: String) {
        let line = node.mark?.line ?? 1
        if let first = values[key] {
            let message = "the key is already in line \(first.line)"
            problems.append(
                ConfigurationProblem(.inconsistent, key, origin: .file(name: name, line: line), message))
        } else {
            values[key] = Value(text: text, line: line)
        }
    }
}

extension YamlError {
    /// The error without the file excerpt, which could show a password.
    fileprivate var sentence: String {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(problem) in line \(mark.line), column \(mark.column)"
        case .duplicatedKeysInMapping(let duplicates, _):
            "the same key twice: \(duplicates.sorted().joined(separator: ", "))"
        case .no, .memory, .reader, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            "it cannot be read"
        }
    }
}
