// Keeps the edge's certificate as its files have it. Certificates live for weeks and are renewed by programs; a worker
// that had to be restarted for it would send all its devices away. New connections get the new one, and those that
// stand go on under the old.

import Logging
import NIOConcurrencyHelpers
import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The certificate of an edge, for all its event loops.
final class CertificateKeeper: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let logger: Logger
    private let current: NIOLockedValueBox<EdgeCertificate>
    /// What the two files held when they were last good.
    private let contents: NIOLockedValueBox<[[UInt8]]>

    /// Reads the pair.
    ///
    /// - Throws: ``UnusableCertificate``.
    init(certificate: String, key: String, logger: Logger) throws(UnusableCertificate) {
        certificatePath = certificate
        keyPath = key
        self.logger = logger
        let contents = try Self.read(certificate, key)
        current = NIOLockedValueBox(try EdgeCertificate(chain: contents[0], key: contents[1]))
        self.contents = NIOLockedValueBox(contents)
    }

    /// What a connection that comes now is served with.
    var context: NIOSSLContext { current.withLockedValue { $0.context } }

    /// Takes what is put in the files' place, until the task is cancelled.
    func run() async {
        tell(current.withLockedValue { $0 })
        var watch = FileWatch([certificatePath, keyPath])
        var problem = RepeatedProblem()
        while !Task.isCancelled {
            if watch.hasChanged(), reload(&problem) { watch.take() }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// - Returns: whether what the files hold is in use. Otherwise they are read again at the next look, since what is
    ///   wrong with them may pass without a change of the files.
    private func reload(_ problem: inout RepeatedProblem) -> Bool {
        do throws(UnusableCertificate) {
            let contents = try Self.read(certificatePath, keyPath)
            if contents != self.contents.withLockedValue({ $0 }) {
                let certificate = try EdgeCertificate(chain: contents[0], key: contents[1])
                current.withLockedValue { $0 = certificate }
                self.contents.withLockedValue { $0 = contents }
                tell(certificate)
            }
            problem.ended()
            return true
        } catch {
            let metadata: Logger.Metadata = ["key": "\(error.part.rawValue)", "reason": "\(error.reason)"]
            if problem.occurred("\(error.part.rawValue): \(error.reason)", at: .now) {
                logger.error("the new certificate cannot be used; the one before stays", metadata: metadata)
            }
            return false
        }
    }

    private func tell(_ certificate: EdgeCertificate) {
        let end = Date(timeIntervalSince1970: certificate.expires)
        let metadata: Logger.Metadata = ["file": "\(certificatePath)", "expires": "\(end.formatted(.iso8601))"]
        if end < .now {
            logger.error("the certificate has expired", metadata: metadata)
        } else {
            logger.info("certificate in use", metadata: metadata)
        }
    }

    static func read(_ certificate: String, _ key: String) throws(UnusableCertificate) -> [[UInt8]] {
        func contents(_ part: UnusableCertificate.Part, _ path: String) throws(UnusableCertificate) -> [UInt8] {
            do {
                return try FileContents.read(path)
            } catch {
                throw UnusableCertificate(part, error.reason)
            }
        }
        return [try contents(.certificate, certificate), try contents(.privateKey, key)]
    }
}
