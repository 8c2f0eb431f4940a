// The rules by which the model's reader of JSON is compared with RFC 8259 and with Foundation's:
//
// - Everything that is JSON by the RFC is read, and nothing else. Foundation is more lenient: it reads UTF-16 and
//   UTF-32, and ignores errors in strings and numbers that are not used.
// - Both read the same values. The exceptions are halves of surrogate pairs, names that differ only in normalisation, and
//   numbers with a fraction or exponent that a `Double` cannot hold, which Foundation rounds before it checks whether
//   they are whole.

internal import Foundation
internal import RollcallProtocol

public enum Comparison {
    /// - Returns: what they disagree about; `nil` if they agree.
    public static func disagreement(about bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let ours = Result { try Tree(jsonText: bytes) }
        guard StrictJSON.isObject(bytes) else {
            if case .success(let tree) = ours { return "\(text) is no JSON, but was read as \(tree)" }
            return nil
        }
        if text.contains(/\\u[dD][89a-fA-F]/) || text.contains(/[0-9.]{16,}|[eE]-[0-9]{3}/) { return nil }
        let theirs = Result { try JSONDecoder().decode(Tree.self, from: Data(bytes)) }
        switch (ours, theirs) {
        case (.success(let ours), .success(let theirs)):
            return ours == theirs || ours.isAmbiguous ? nil : "\(text): ours \(ours), theirs \(theirs)"
        case (.failure(let error), _): return "\(text) is JSON, but \(error)"
        case (_, .failure(let error)): return "\(text) is JSON, but not to Foundation: \(error)"
        }
    }
}

/// A value, read completely.
private indirect enum Tree: Equatable {
    case null
    case truth(Bool)
    case integer(Int64)
    case number(Double?)
    case text(ByteString)
    case list([Tree])
    case object([String: Tree], names: Set<ByteString>)

    /// Whether names are different for us and the same for Foundation.
    var isAmbiguous: Bool {
        switch self {
        case .list(let list): list.contains(where: \.isAmbiguous)
        case .object(let fields, let names): names.count > fields.count || fields.values.contains(where: \.isAmbiguous)
        default: false
        }
    }
}

extension Tree: JSONReadable {
    init(json: JSONValue) throws(UnexpectedJSON) {
        if json.isText {
            self = .text(try json.text())
        } else if let truth = try? json.truth() {
            self = .truth(truth)
        } else if let list: [Tree] = try? json.list() {
            self = .list(list)
        } else if json.isNull {
            self = .null
        } else if (try? json.has("")) != nil {
            var fields: [String: Tree] = [:]
            var names: Set<ByteString> = []
            try json.forEachField { name, value throws(UnexpectedJSON) in
                let value = try Tree(json: value)
                if names.insert(name).inserted, fields[name.string] == nil { fields[name.string] = value }
            }
            self = .object(fields, names: names)
        } else {
            self = (try? json.integer()).map(Tree.integer) ?? .number(try? json.number())
        }
    }
}

extension Tree: Decodable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(ByteString(text))
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
        } else if let list = try? value.decode([Tree].self) {
            self = .list(list)
        } else if let fields = try? value.decode([String: Tree].self) {
            self = .object(fields, names: Set(fields.keys.map { ByteString($0) }))
        } else {
            self = (try? value.decode(Int64.self)).map(Tree.integer) ?? .number(try? value.decode(Double.self))
        }
    }
}
