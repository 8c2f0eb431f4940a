// The rooms and the watched users of a shard, found by name, and numbered: where an order shows, it is that of the
// numbers, so that the same events always have the same effects.

internal import HeapModule

/// Something whose number orders it among others of its kind.
protocol Numbered: Hashable {
    var number: Int32 { get }
}

extension Numbered where Self: AnyObject {
    static func == (left: Self, right: Self) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Objects with unique names. Each has the smallest number that was free when it was added.
final class Directory<Name: Hashable, Object: Numbered> {
    private var objects: [Name: Object] = [:]
    private var free = Heap<Int32>()

    var count: Int { objects.count }

    /// All objects, by number.
    var all: [Object] { objects.values.sorted { $0.number < $1.number } }

    subscript(name: Name) -> Object? { objects[name] }

    func insert(_ name: Name, _ make: (_ number: Int32) -> Object) -> Object {
        assert(objects[name] == nil, "two objects have the same name")
        let object = make(free.popMin() ?? Int32(objects.count))
        objects[name] = object
        return object
    }

    func remove(_ name: Name) {
        guard let object = objects.removeValue(forKey: name) else { return assertionFailure("it is removed once") }
        free.insert(object.number)
    }
}
