// Errors of the admin port: RFC 9457 problem details with a stable code.

import Hummingbird
import NIOCore
import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct AdminProblem: Error, Hashable {
    /// Stable codes for programs to match.
    enum Code: String, CaseIterable {
        case badRequest = "bad_request"
        case unauthorized
        /// The token's role does not permit this.
        case forbidden
        case notFound = "not_found"
        /// The conversation's members were never set, so its member list is not managed. An empty list is managed.
        case notManaged = "not_managed"
        case methodNotAllowed = "method_not_allowed"
        case tooLarge = "too_large"
        /// The body's declared type is not JSON.
        case unsupportedMediaType = "unsupported_media_type"
        /// The request exceeds a limit on items per request.
        case limit
        /// Redis is unavailable, or this worker is not ready. The same request may succeed later.
        case unavailable
        case `internal`
    }

    var code: Code
    /// A sentence for people to read.
    var detail: String
    /// Headers for the client: `Allow`, `Retry-After`, `WWW-Authenticate`.
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

/// JSON on the admin port. Equal values encode to equal bytes.
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
            preconditionFailure("the response cannot be encoded: \(error)")
        }
    }
}
