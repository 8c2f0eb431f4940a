// What the admin port answers when it does not do what was asked: a problem of RFC 9457, with a stable code.

import Hummingbird
import NIOCore
import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct AdminProblem: Error, Hashable {
    /// Stable: programs match on it.
    enum Code: String, CaseIterable {
        case badRequest = "bad_request"
        case unauthorized
        /// The token's role may not do this.
        case forbidden
        case notFound = "not_found"
        /// The conversation has no members, not even none: it is not managed.
        case notManaged = "not_managed"
        case methodNotAllowed = "method_not_allowed"
        case tooLarge = "too_large"
        /// A body that is said to be something else than JSON.
        case unsupportedMediaType = "unsupported_media_type"
        /// More at once than may be asked for.
        case limit
        /// Redis is away, or this worker not ready; the same request may succeed later.
        case unavailable
        case `internal`
    }

    var code: Code
    /// A sentence for a person.
    var detail: String
    /// Headers that tell what to do: `Allow`, `Retry-After`, `WWW-Authenticate`.
    var headers: HTTPFields

    init(_ code: Code, _ detail: String, headers: HTTPFields = [:]) {
        self.code = code
        self.detail = detail
        self.headers = headers
    }

    static func unavailable(_ detail: String, retryAfter: Duration) -> AdminProblem {
        let seconds = max(1, (retryAfter + .milliseconds(999)).components.seconds)
        return AdminProblem(.unavailable, detail, headers: [.retryAfter: "\(seconds)"])
    }

    private var status: HTTPResponse.Status {
        switch code {
        case .badRequest, .limit: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound, .notManaged: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .tooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .unavailable: .serviceUnavailable
        case .internal: .internalServerError
        }
    }

    static let mediaType = "application/problem+json"

    var response: Response {
        var response = AdminJSON.response(bytes, status: status, type: Self.mediaType)
        response.headers.append(contentsOf: headers)
        return response
    }

    /// The problem as JSON.
    var bytes: ByteBuffer {
        AdminJSON.bytes(Body(code: code.rawValue, detail: detail, status: status.code, title: status.reasonPhrase))
    }

    private struct Body: Encodable {
        var code: String
        var detail: String
        var status: Int
        var title: String
    }
}

/// JSON on the admin port: the same answer is always the same bytes.
enum AdminJSON {
    static func response(_ body: some Encodable) -> Response {
        response(bytes(body), status: .ok, type: "application/json")
    }

    static func response(_ body: some JSONWritable) -> Response {
        let size = body.jsonSize
        var bytes = ByteBufferAllocator().buffer(capacity: size)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { body.writeJSON(to: $0) }
        return response(bytes, status: .ok, type: "application/json")
    }

    static func response(_ bytes: ByteBuffer, status: HTTPResponse.Status, type: String) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: bytes))
    }

    static func bytes(_ body: some Encodable) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return ByteBuffer(bytes: try encoder.encode(body))
        } catch {
            preconditionFailure("an answer that cannot be encoded: \(error)")
        }
    }
}
