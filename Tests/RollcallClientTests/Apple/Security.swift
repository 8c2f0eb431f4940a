// What Rollcall uses of Apple's Security framework, and of its Foundation beyond that of Linux, from their documentation.

public import Foundation
@_exported public import FoundationNetworking

public typealias CFData = Data
public typealias CFArray = [Any]
public typealias CFError = any Error
public final class SecCertificate: @unchecked Sendable {}
public final class SecTrust: @unchecked Sendable {}
public final class CFAllocator {}

public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> Int32 { 0 }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { true }

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    public convenience init(trust: SecTrust) { fatalError() }
}
