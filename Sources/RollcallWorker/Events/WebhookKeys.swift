// The keys that sign requests to an app's server, in the form of Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).

import Crypto
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import RollcallProtocol
import RollcallServer

/// The current key, and the previous one during a rotation: a receiver accepts either signature.
struct WebhookKeys: Sendable {
    /// How to make a secret.
    static let recipe = "(umask 077; echo whsec_$(openssl rand -base64 32) > webhook.secret)"
    /// The key lengths that the standard allows, in bytes.
    private static let lengths = 24...64

    private let keys: [SymmetricKey]

    /// - Parameters:
    ///   - contents: one or two lines, each `whsec_` and the key in base64.
    ///   - setting: what names the file.
    init(_ contents: Secret, key setting: String) throws(UnusableFile) {
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
                setting,
                "the file must have one line, whsec_ and 24 to 64 random bytes in base64 \(Self.recipe), and at most one more "
                    + "line with the previous secret")
        }
    }

    /// The keys in a file, which may be replaced while the worker runs.
    static func followed(
        _ setting: String, _ file: String?, _ secret: Secret?, logger: Logger
    ) -> FollowedFiles<WebhookKeys?> {
        FollowedFiles(
            file.map { [(setting, $0)] } ?? [], value: secret.flatMap { try? WebhookKeys($0, key: setting) },
            parse: { contents throws(UnusableFile) in
                try contents.first.map { text throws(UnusableFile) in try WebhookKeys(Secret(text), key: setting) }
            },
            report: { result, _ in
                guard case .failure(let error) = result else { return }
                logger.error(
                    "a new webhook secret cannot be used; the previous one stays in use",
                    metadata: ["reason": "\(error.reason)"])
            })
    }

    /// The headers of a request, signed.
    ///
    /// - Parameter now: Redis's time: this host's may be wrong, and receivers refuse what is old.
    func headers(id: String, at now: Timestamp, body: ByteBuffer) -> HTTPHeaders {
        let time = now.milliseconds / 1000
        return [
            "content-type": "application/json", "user-agent": "Rollcall/\(RollcallVersion.current)",
            "webhook-id": id, "webhook-timestamp": "\(time)",
            "webhook-signature": signature(id: id, timestamp: time, body: body.readableBytesView),
        ]
    }

    /// The header `webhook-signature`.
    func signature(id: String, timestamp: Int64, body: some Sequence<UInt8>) -> String {
        let signed = Data("\(id).\(timestamp).".utf8) + Data(body)
        return keys.map { key in
            "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
        }.joined(separator: " ")
    }
}
