// Compact storage for values that are added and removed often: one array, with keys that never refer to a later value
// in the same slot.

internal import HeapModule

/// The key of a value in a ``SlotMap``.
public struct SlotKey<Value>: Hashable, Sendable {
    /// The index of the value's slot. A later value may use the same slot with another generation.
    public let index: Int32
    let generation: UInt32
}

extension SlotKey: Numbered {
    var number: Int32 { index }
}

/// An array whose slots are reused.
struct SlotMap<Value> {
    typealias Key = SlotKey<Value>

    private struct Slot {
        var generation: UInt32
        var value: Value?
    }

    private var slots: [Slot] = []
    /// Free slots, smallest first. The order in which slots were freed may come from a set and must not matter, so that
    /// the same events always give the same actions.
    private var free = Heap<Int32>()

    var count: Int { slots.count - free.count }

    mutating func insert(_ value: Value) -> Key {
        if let index = free.popMin() {
            slots[Int(index)].value = value
            return Key(index: index, generation: slots[Int(index)].generation)
        }
        slots.append(Slot(generation: 0, value: value))
        return Key(index: Int32(slots.count - 1), generation: 0)
    }

    func contains(_ key: Key) -> Bool {
        slots[Int(key.index)].generation == key.generation && slots[Int(key.index)].value != nil
    }

    /// Returns a copy of the value for a key; `nil` once it has been removed. Where only one field is needed, ``read``
    /// is cheaper.
    subscript(key: Key) -> Value? {
        _read {
            if slots[Int(key.index)].generation == key.generation {
                yield slots[Int(key.index)].value
            } else {
                yield nil
            }
        }
    }

    /// Reads a value in place. Reading through the subscript copies all parts of the value.
    func read<Result>(_ key: Key, _ read: (borrowing Value) -> Result) -> Result? {
        slots.withUnsafeBufferPointer { slots in
            guard slots[Int(key.index)].generation == key.generation else { return nil }
            switch slots[Int(key.index)].value {
            case .some(let value): return read(value)
            case .none: return nil
            }
        }
    }

    /// Changes a value in place. The value must be there: a stale key is a mistake of the caller, which debug builds
    /// report and release builds ignore. See ``changeIfPresent(_:_:)``.
    @discardableResult
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        assert(contains(key), "a value was changed after it was removed")
        return changeIfPresent(key, change)
    }

    /// Changes a value in place, unless it was removed meanwhile.
    @discardableResult
    mutating func changeIfPresent<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        slots.withUnsafeMutableBufferPointer { slots in
            guard slots[Int(key.index)].generation == key.generation, slots[Int(key.index)].value != nil else {
                return nil
            }
            return change(&slots[Int(key.index)].value!)
        }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let value = self[key] else { return nil }
        slots[Int(key.index)].value = nil
        slots[Int(key.index)].generation &+= 1
        free.insert(key.index)
        return value
    }

    /// Returns the key of the next value after a slot, and wraps around at the end; `nil` if there are no values.
    func next(after index: Int32) -> Key? {
        let places = (0..<slots.count).lazy.map { (Int(index) + 1 + $0) % self.slots.count }
        return places.first { self.slots[$0].value != nil }
            .map { Key(index: Int32($0), generation: self.slots[$0].generation) }
    }

    /// The keys of all values, in slot order.
    var keys: [Key] {
        slots.indices.compactMap { index in
            slots[index].value == nil ? nil : Key(index: Int32(index), generation: slots[index].generation)
        }
    }
}
