// The rooms and the watched users of a shard: values that have a unique name, and are found by it or by their key.

/// A value of a ``NamedTable``.
protocol Named {
    associatedtype Name: Hashable & Sendable

    /// The name, which does not change.
    var name: Name { get }
}

/// Values with unique names. Names are looked up once, when an event names a conversation or a user; everything else
/// refers to a value by its key.
struct NamedTable<Value: Named> {
    typealias Key = SlotKey<Value>

    private var slots = SlotMap<Value>()
    private var keysByName: [Value.Name: Key] = [:]

    var count: Int { slots.count }

    /// The keys of all values, in slot order.
    var keys: [Key] { slots.keys }

    func key(of name: Value.Name) -> Key? { keysByName[name] }

    /// Adds a value whose name is not in the table.
    mutating func insert(_ value: Value) -> Key {
        let key = slots.insert(value)
        let former = keysByName.updateValue(key, forKey: value.name)
        assert(former == nil, "two values have the same name")
        return key
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let value = slots.remove(key) else { return nil }
        keysByName[value.name] = nil
        return value
    }

    /// Returns a copy of a value; `nil` once it has been removed.
    subscript(key: Key) -> Value? {
        _read { yield slots[key] }
    }

    /// Reads a value in place; `nil` once it has been removed.
    func read<Result>(_ key: Key, _ read: (borrowing Value) -> Result) -> Result? {
        slots.read(key, read)
    }

    /// Changes a value in place, which must be there; see ``SlotMap/change(_:_:)``.
    @discardableResult
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        slots.change(key, change)
    }

    /// Changes a value in place, unless it was removed meanwhile.
    @discardableResult
    mutating func changeIfPresent<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        slots.changeIfPresent(key, change)
    }
}
