// A set of sessions or watches that may be large: adding or removing one costs the same at any size.

/// Unique keys in a deterministic order: the same events always give the same order.
struct IndexedSet<Element: Hashable> {
    private static var few: Int { 64 }

    private(set) var keys: [Element] = []
    /// The index of each key, once there are many. With few keys, a linear search is as fast.
    private var places: [Element: Int] = [:]

    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: Element) -> Bool { place(of: key) != nil }

    /// - Returns: false if the key was already present.
    @discardableResult
    mutating func insert(_ key: Element) -> Bool {
        guard !contains(key) else { return false }
        keys.append(key)
        if !places.isEmpty {
            places[key] = keys.count - 1
        } else if keys.count > Self.few {
            places = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
        }
        return true
    }

    /// Adds several keys at once, with one reservation of the memory they need.
    mutating func insert(_ several: [Element]) {
        if several.count > keys.count { keys.reserveCapacity(keys.count + several.count) }
        for key in several { insert(key) }
    }

    /// Removes a key; the last key moves to its index.
    ///
    /// - Returns: false if the key was not present.
    @discardableResult
    mutating func remove(_ key: Element) -> Bool {
        guard let place = place(of: key) else { return false }
        let last = keys.removeLast()
        places[key] = nil
        guard last != key else { return true }
        keys[place] = last
        if !places.isEmpty { places[last] = place }
        return true
    }

    private func place(of key: Element) -> Int? {
        places.isEmpty ? keys.firstIndex(of: key) : places[key]
    }
}
