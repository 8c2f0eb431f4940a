// What Rollcall uses of Combine, from its documentation.

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
}
extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { fatalError() }
    public func compactMap<New>(_ transform: @escaping (Output) -> New?) -> some Publisher<New, Failure> {
        AnyPublisher<New, Failure>()
    }
    public func handleEvents(receiveCancel: (() -> Void)? = nil) -> some Publisher<Output, Failure> {
        AnyPublisher<Output, Failure>()
    }
}
public struct AnyPublisher<Output, Failure: Error>: Publisher {}
public struct Deferred<Deferring: Publisher>: Publisher {
    public typealias Output = Deferring.Output
    public typealias Failure = Deferring.Failure
    public init(createPublisher: @escaping () -> Deferring) {}
}
public enum Subscribers {
    public enum Completion<Failure: Error> { case finished }
}
public final class CurrentValueSubject<Output, Failure: Error>: Publisher {
    public init(_ value: Output) {}
    public func send(_ value: Output) {}
    public func send(completion: Subscribers.Completion<Failure>) {}
}
