// Apple's WebSocket, translated for ``PlatformWire``, which decides. Type-checked where Apple's SDK is not (`make lint`).
#if canImport(Security)
    import Foundation
    import Security

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// One `URLSessionWebSocketTask`. The session's queue is the client's.
    final class URLSessionSocket: NSObject, PlatformSocket, URLSessionWebSocketDelegate, @unchecked Sendable {
        /// `nil` once the socket has ended.
        private var hear: ((SocketEvent) -> Void)?
        private let anchors: [SecCertificate]?
        private var session: URLSession?
        private var task: URLSessionWebSocketTask?

        /// - Parameter certificates: the path of a PEM file with the certificates to trust; `nil` for the system's.
        init(
            to address: WorkerAddress, trusting certificates: String?, on queue: DispatchQueue,
            hear: @escaping (SocketEvent) -> Void
        ) {
            self.hear = hear
            anchors = certificates.map {
                Self.certificates(in: (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "")
            }
            super.init()
            guard let url = URL(string: address.url) else { return }  // It came from one.
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 86_400  // ``Liveness`` judges silence.
            let events = OperationQueue()
            events.underlyingQueue = queue
            events.maxConcurrentOperationCount = 1
            let session = URLSession(configuration: configuration, delegate: self, delegateQueue: events)
            let task = session.webSocketTask(with: url)
            task.maximumMessageSize = Network.maximumMessage
            (self.session, self.task) = (session, task)
            task.resume()
            receive()
        }

        func send(_ json: [UInt8]) {
            task?.send(.string(String(decoding: json, as: UTF8.self))) { [self] _ in hear?(.sent) }
        }

        func close(_ code: UInt16) {
            task?.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: nil)
        }

        func abort() {
            hear = nil
            task?.cancel()
            session?.finishTasksAndInvalidate()
            (task, session) = (nil, nil)
        }

        private func receive() {
            task?.receive { [self] result in
                switch result {
                case .success(.string(let text)): hear?(.received(Array(text.utf8)))
                case .success: hear?(.received(nil))
                case .failure(let error): hear?(.interrupted(error))
                }
                if case .success = result { receive() }
            }
        }

        private func end(_ error: (any Error)?) {
            let answer = (task?.response as? HTTPURLResponse).map { response in
                UpgradeRefused(status: response.statusCode) { response.value(forHTTPHeaderField: $0) }
            }
            hear?(.ended(error, answer: answer))
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
        ) {
            hear?(.opened)
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            hear?(.closed(UInt16(clamping: closeCode.rawValue), because: Array(reason ?? Data())))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end(error)
        }

        /// The token must not go where a redirect leads.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let anchors, let trust = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            guard SecTrustEvaluateWithError(trust, nil) else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.useCredential, URLCredential(trust: trust))
        }

        /// The certificates of a PEM file. Without any, nothing is trusted.
        private static func certificates(in pem: String) -> [SecCertificate] {
            pem.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { part in
                let base64 = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                return Data(base64Encoded: base64, options: .ignoreUnknownCharacters)
                    .flatMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            }
        }
    }
#endif
