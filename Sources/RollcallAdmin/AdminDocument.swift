// The OpenAPI document that the admin port serves.

import Hummingbird
import NIOCore

enum AdminDocument {
    /// The same document as `docs/openapi.yaml`.
    static let bytes = ByteBuffer(bytes: PackageResources.openapi_yaml)

    static var response: Response {
        AdminJSON.response(bytes, status: .ok, type: "application/yaml")
    }
}
