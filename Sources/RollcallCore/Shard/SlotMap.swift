// Compact storage for what comes and goes: values in one array, named by keys that are never mistaken for a later
// tenant of the same slot.

internal import HeapModule

/// The name of a value in a ``SlotMap``.
public struct SlotKey<Value>: Hashable, Sendable {
    /// Where the value stands; a later value may stand there under another generation.
    public let index: Int32
    let generation: UInt32
}

/// An array whose places are used again.
struct SlotMap<Value: Sendable>: Sendable {
    typealias Key = SlotKey<Value>

    private struct Slot: Sendable {
        var generation: UInt32
        var value: Value?
    }

    private var slots: [Slot] = []
    /// What is changed under a name that nobody has any more; a local variable of a large type would cost every change an
    /// allocation.
    private var nobody: Value?
    /// The first of them is taken next: so places do not depend on the order in which several were left at once, which
    /// may be that of a set, and the same events have the same actions each time.
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

    /// The value of this name; `nil` once it has been removed. It is read and changed in place: a copy of a large value,
    /// for one field of it, would cost more than the field.
    subscript(key: Key) -> Value? {
        _read {
            if slots[Int(key.index)].generation == key.generation {
                yield slots[Int(key.index)].value
            } else {
                yield nil
            }
        }
        _modify {
            if slots[Int(key.index)].generation == key.generation {
                yield &slots[Int(key.index)].value
            } else {
                defer { nobody = nil }
                yield &nobody
            }
        }
    }

    /// Reads something of the value of this name, where it stands: where a value has many parts, what the subscript gives
    /// to read is a copy of them all.
    func read<Result>(_ key: Key, _ read: (borrowing Value) -> Result) -> Result? {
        slots.withUnsafeBufferPointer { slots in
            guard slots[Int(key.index)].generation == key.generation else { return nil }
            switch slots[Int(key.index)].value {
            case .some(let value): return read(value)
            case .none: return nil
            }
        }
    }

    /// Changes the value of this name, where it stands, without the allocation that each access by the subscript costs.
    @discardableResult
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
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

    /// The name of the next value after a slot, the first after the last; `nil` if there are none.
    func next(after index: Int32) -> Key? {
        let places = (0..<slots.count).lazy.map { (Int(index) + 1 + $0) % self.slots.count }
        return places.first { self.slots[$0].value != nil }
            .map { Key(index: Int32($0), generation: self.slots[$0].generation) }
    }

    /// The names of all values, in the order of their slots.
    var keys: [Key] {
        slots.indices.compactMap { index in
            slots[index].value == nil ? nil : Key(index: Int32(index), generation: slots[index].generation)
        }
    }
}
