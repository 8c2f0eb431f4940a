// The rules by which the model's codec is compared with RFC 8259 and with Foundation:
//
// - Everything that is JSON by the RFC is read, and nothing else. Foundation is more lenient: it reads UTF-16 and
//   UTF-32, and ignores errors in strings and numbers that are not used.
// - Both read JSON as the same value, or fail with the same identifier and error code. There are two exceptions: names
//   with half of a surrogate pair, for which Foundation rejects the object even if they are not used; and numbers with
//   a fraction or exponent that a `Double` cannot hold, which Foundation rounds before it checks whether they are
//   whole.
// - What was read is written in the same bytes.

internal import RollcallModel

public struct Comparison {
    private let bytes: [UInt8]
    private let isJSON: Bool

    /// - Returns: what they disagree about; `nil` if they agree.
    public static func disagreement(about bytes: [UInt8]) -> String? {
        let comparison = Comparison(bytes: bytes, isJSON: StrictJSON.isObject(bytes))
        return comparison.aboutRequest ?? comparison.aboutValue(ServerMessage.self)
            ?? comparison.aboutChange(TypingChange.self) ?? comparison.aboutChange(PresenceChange.self)
            ?? comparison.aboutChange(MemberChange.self) ?? comparison.aboutValue(Presence.self)
    }

    private var aboutRequest: String? {
        let ours = Outcome { try MessageCodec().request(from: bytes) }
        guard (ours != .notJSON) == isJSON else { return told("is\(isJSON ? "" : " no") JSON, but \(ours)") }
        let theirs = Outcome { try FoundationCodec.request(from: bytes) }
        guard !isJSON || ours == theirs || isExcepted else { return told("ours \(ours), theirs \(theirs)") }
        guard case .read(let request) = ours else { return nil }
        return writtenOtherwise(request, as: MessageCodec().json(of: request))
    }

    private func aboutChange<Change: JSONReadable & Decodable & Equatable>(_ type: Change.Type) -> String? {
        let ours = try? Change(jsonText: bytes)
        guard isJSON else { return ours.map { told("is no JSON, but \($0)") } }
        let theirs = try? FoundationCodec.read(type, from: bytes)
        return ours == theirs || isExcepted
            ? nil : told("as \(type): ours \(ours as Any), theirs \(theirs as Any)")
    }

    private func aboutValue<Value: JSONReadable & JSONWritable & Codable & Equatable>(
        _ type: Value.Type
    ) -> String? {
        if let disagreement = aboutChange(type) { return disagreement }
        guard let value = try? Value(jsonText: bytes) else { return nil }
        return writtenOtherwise(value, as: value.jsonText)
    }

    private func writtenOtherwise(_ value: some Encodable, as ours: [UInt8]) -> String? {
        guard let theirs = try? FoundationCodec.json(of: value), theirs == ours else {
            return told("is written otherwise: \(String(decoding: ours, as: UTF8.self))")
        }
        return nil
    }

    private var isExcepted: Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(/\\u[dD][89a-fA-F]/) || text.contains(/[0-9.]{16,}|[eE]-[0-9]{3}/)
    }

    private func told(_ disagreement: String) -> String {
        "\(String(decoding: bytes, as: UTF8.self)) (\(bytes.count) bytes) \(disagreement)"
    }
}

/// How a client's text was read.
private enum Outcome: Equatable {
    case read(ClientRequest)
    case wrong(MessageError.Code, MessageID?)
    case notJSON

    init(_ read: () throws -> ClientRequest) {
        do {
            self = .read(try read())
        } catch let error as MessageError {
            self = .wrong(error.code, error.id)
        } catch {
            self = .notJSON
        }
    }
}
