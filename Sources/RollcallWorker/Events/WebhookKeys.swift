// The keys that sign deliveries, in the form of Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).

import Crypto
import Foundation
import RollcallServer

/// The current key, and the previous one during a rotation: a receiver accepts either signature.
struct WebhookKeys: Sendable {
    /// How to make a secret.
    static let recipe = "(umask 077; echo whsec_$(openssl rand -base64 32) > webhook.secret)"
    /// The key lengths that the standard allows, in bytes.
    private static let lengths = 24...64

    private let keys: [SymmetricKey]

    /// - Parameter contents: one or two lines, each `whsec_` and the key in base64.
    init(_ contents: Secret) throws(UnusableFile) {
        let mark = Array("whsec_".utf8)
        let lines = contents.bytes.split { $0 == 0x0A || $0 == 0x0D }.map { Array($0).trimmingWhiteSpace }
        keys = lines.filter { !$0.isEmpty }.compactMap { line in
            guard line.starts(with: mark), let key = Data(base64Encoded: Data(line.dropFirst(mark.count))),
                Self.lengths.contains(key.count)
            else { return nil }
            return SymmetricKey(data: key)
        }
        guard (1...2).contains(keys.count), keys.count == lines.count(where: { !$0.isEmpty }) else {
            throw UnusableFile(
                "events.webhook.secret_file",
                "the file must have one line, whsec_ and 24 to 64 random bytes in base64 \(Self.recipe), and at most one more "
                    + "line with the previous secret")
        }
    }

    /// The header `webhook-signature`.
    func signature(id: String, timestamp: Int64, body: some Sequence<UInt8>) -> String {
        let signed = Data("\(id).\(timestamp).".utf8) + Data(body)
        return keys.map { key in
            "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
        }.joined(separator: " ")
    }
}
