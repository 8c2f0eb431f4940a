// What Rollcall's views, and the example in its documentation, use of SwiftUI, from its documentation.

@_exported public import Foundation
@_exported public import Observation

public enum ScenePhase: Sendable { case background, inactive, active }

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }
public struct TupleView<each Content: View>: View { public var body: Never { fatalError() } }

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content>
    {
        fatalError()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { fatalError() }
}
public struct Either<First: View, Second: View>: View { public var body: Never { fatalError() } }
public struct EmptyView: View {
    public init() {}
    public var body: Never { fatalError() }
}

public struct Text: View {
    public init(verbatim content: String) {}
    public init(_ key: LocalizedStringKey) {}
    @_disfavoredOverload public init<Content: StringProtocol>(_ content: Content) {}
    public var body: Never { fatalError() }
}

public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {}
}

public struct HorizontalAlignment: Sendable {
    public static var leading: HorizontalAlignment { fatalError() }
    public static var center: HorizontalAlignment { fatalError() }
}
public struct VerticalAlignment: Sendable {
    public static var bottom: VerticalAlignment { fatalError() }
    public static var center: VerticalAlignment { fatalError() }
}
public struct HStack<Content: View>: View {
    public init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
    public var body: Never { fatalError() }
}
public struct VStack<Content: View>: View {
    public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
    public var body: Never { fatalError() }
}
public struct List<Content: View>: View {
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    )
    where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, Row> {}
    public var body: Never { fatalError() }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content>: View {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Content: View {}
    public var body: Never { fatalError() }
}
public struct Button<Label: View>: View {
    public init(_ title: LocalizedStringKey, action: @escaping @MainActor () -> Void) where Label == Text {}
    public var body: Never { fatalError() }
}
public struct TextField<Label: View>: View {
    public init(_ title: LocalizedStringKey, text: Binding<String>) where Label == Text {}
    public var body: Never { fatalError() }
}
public struct NavigationStack<Content: View>: View {
    public init(@ViewBuilder root: () -> Content) {}
    public var body: Never { fatalError() }
}
public struct NavigationLink<Label: View, Destination: View>: View {
    public init<Value: Hashable>(value: Value?, @ViewBuilder label: () -> Label) where Destination == Never {}
    public var body: Never { fatalError() }
}
public protocol Shape: Sendable, View {}
extension Shape {
    public func fill<Style: ShapeStyle>(_ style: Style) -> some View { self }
    public func trim(from start: CGFloat = 0, to end: CGFloat = 1) -> some Shape { self }
    public var body: Never { fatalError() }
}
public protocol InsettableShape: Shape {}
extension InsettableShape {
    public func strokeBorder<Style: ShapeStyle>(_ style: Style, lineWidth: CGFloat = 1) -> some View { self }
}
public struct Circle: InsettableShape { public init() {} }
public struct Capsule: InsettableShape { public init() {} }

public protocol ShapeStyle {
    associatedtype Resolved: ShapeStyle
    func resolve(in environment: EnvironmentValues) -> Resolved
}
public struct Color: ShapeStyle, Sendable {
    public enum RGBColorSpace: Sendable { case sRGB }
    public static let clear = Color(.sRGB, red: 0, green: 0, blue: 0, opacity: 0)
    public init(_ space: RGBColorSpace, red: Double, green: Double, blue: Double, opacity: Double) {}
    public func resolve(in environment: EnvironmentValues) -> Color { self }
}
extension Color: View { public var body: Never { fatalError() } }
public struct Font: Sendable { public static let (footnote, caption) = (Font(), Font()) }
public struct Animation: Equatable, Sendable { public static let `default` = Animation() }
public struct AnyTransition: Sendable { public static let opacity = AnyTransition() }
public enum ColorScheme: Sendable { case light, dark }
public struct AccessibilityTraits: Sendable { public static let updatesFrequently = AccessibilityTraits() }
public struct AccessibilityChildBehavior: Sendable { public static let ignore = AccessibilityChildBehavior() }

public enum AccessibilityNotification {
    public struct Announcement {
        public init(_ announcement: String) {}
        public func post() {}
    }
}

extension View {
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle<Style: ShapeStyle>(_ style: Style) -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil) -> some View { self }
    public func frame(maxWidth: CGFloat? = nil) -> some View { self }
    public func padding(_ length: CGFloat) -> some View { self }
    public func background<Style: ShapeStyle>(_ style: Style) -> some View { self }
    public func background<Style: ShapeStyle, Form: InsettableShape>(_ style: Style, in shape: Form) -> some View {
        self
    }
    public func transition(_ transition: AnyTransition) -> some View { self }
    public func animation<Value: Equatable>(_ animation: Animation?, value: Value) -> some View { self }
    public func navigationDestination<Data: Hashable, Destination: View>(
        for data: Data.Type, @ViewBuilder destination: @escaping (Data) -> Destination
    ) -> some View { self }
    public func id<ID: Hashable>(_ id: ID) -> some View { self }
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }
    public func accessibilityLabel(_ label: Text) -> some View { self }
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
    public func navigationTitle(_ title: String) -> some View { self }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { self }
}
public struct AnimationTimelineSchedule: Sendable {}
public struct TimelineViewDefaultContext { public let date: Date }

public struct TimelineView<Schedule, Content: View>: View {
    public init(_ schedule: Schedule, @ViewBuilder content: @escaping (TimelineViewDefaultContext) -> Content)
    where Schedule == AnimationTimelineSchedule {}
    public var body: Never { fatalError() }
}
extension AnimationTimelineSchedule {
    public static func animation(minimumInterval: Double? = nil, paused: Bool = false) -> Self { Self() }
}

public struct EnvironmentValues {
    public var accessibilityReduceMotion: Bool { false }
    public var accessibilityDifferentiateWithoutColor: Bool { false }
    public var colorScheme: ColorScheme { .light }
    public var scenePhase: ScenePhase { .active }
}

@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}
@propertyWrapper public struct ScaledMetric {
    public init(wrappedValue: CGFloat) {}
    public var wrappedValue: CGFloat { fatalError() }
}
@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value> {
    public init(wrappedValue: Value) {}
    public init(_ wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Bindable<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

@MainActor @preconcurrency public protocol Scene {}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}
extension App { public static func main() {} }
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}
