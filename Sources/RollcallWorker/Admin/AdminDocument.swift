// The description of the admin port, by the admin port.

import Hummingbird
import NIOCore

enum AdminDocument {
    /// The OpenAPI document, as it stands in `docs/openapi.yaml`.
    static let bytes = ByteBuffer(bytes: PackageResources.openapi_yaml)

    static var response: Response {
        AdminJSON.response(bytes, status: .ok, type: "application/yaml")
    }
}
