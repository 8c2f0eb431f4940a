// Keeps a port's certificate in sync with its files. Certificates are renewed every few weeks, and a restart would
// disconnect all devices. New connections use the new certificate; open ones continue with the old.

package import Logging
import NIOConcurrencyHelpers
package import NIOSSL
package import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The certificate of the edge or the admin port, for all event loops.
package final class CertificateKeeper: Sendable {
    private let files: CertificateFiles
    private let logger: Logger
    private let current: NIOLockedValueBox<ServerCertificate>
    /// The contents of the files when they were last valid.
    private let contents: NIOLockedValueBox<ServerCertificate.Contents>

    /// Reads the files.
    ///
    /// - Throws: ``UnusableFile``.
    package init(_ files: CertificateFiles, logger: Logger) throws(UnusableFile) {
        self.files = files
        self.logger = logger
        let contents = try files.read()
        current = NIOLockedValueBox(try ServerCertificate(contents, of: files.port))
        self.contents = NIOLockedValueBox(contents)
    }

    /// The TLS context for new connections.
    package var context: NIOSSLContext { current.withLockedValue { $0.context } }

    /// Reads changed files, until the task is cancelled.
    package func run() async {
        tell(current.withLockedValue { $0 })
        var watch = FileWatch(files.paths)
        var problem = RepeatedProblem()
        while !Task.isCancelled {
            if watch.hasChanged(), reload(&problem) { watch.take() }
            try? await Task.sleep(for: FileWatch.interval)
        }
    }

    /// - Returns: Whether the files' contents are in use. Otherwise the next check reads them again, since the problem
    ///   may go away without a change of the files.
    private func reload(_ problem: inout RepeatedProblem) -> Bool {
        do throws(UnusableFile) {
            let contents = try files.read()
            if contents != self.contents.withLockedValue({ $0 }) {
                let certificate = try ServerCertificate(contents, of: files.port)
                current.withLockedValue { $0 = certificate }
                self.contents.withLockedValue { $0 = contents }
                tell(certificate)
            }
            problem.ended()
            return true
        } catch {
            let metadata: Logger.Metadata = ["key": "\(error.key)", "reason": "\(error.reason)"]
            if problem.occurred("\(error.key): \(error.reason)", at: .now) {
                logger.error("the new certificate cannot be used; the previous one stays in use", metadata: metadata)
            }
            return false
        }
    }

    private func tell(_ certificate: ServerCertificate) {
        let end = Date(timeIntervalSince1970: certificate.expires)
        let metadata: Logger.Metadata = ["file": "\(files.certificate)", "expires": "\(end.formatted(.iso8601))"]
        if end < .now {
            logger.error("the certificate has expired", metadata: metadata)
        } else {
            logger.info("certificate in use", metadata: metadata)
        }
    }
}
