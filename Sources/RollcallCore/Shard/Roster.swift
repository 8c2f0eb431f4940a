// Who is somewhere, where many may be: one comes or goes at a time, and that costs the same however many there are.

/// Keys, each once, in an order that the same events always give.
struct Roster<Value: Sendable>: Sendable {
    private static var few: Int { 64 }

    private(set) var keys: [SlotKey<Value>] = []
    /// Where each stands, once they are many; few are as quickly looked through.
    private var places: [SlotKey<Value>: Int] = [:]

    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: SlotKey<Value>) -> Bool { place(of: key) != nil }

    /// - Returns: false if it is there already.
    @discardableResult
    mutating func insert(_ key: SlotKey<Value>) -> Bool {
        guard !contains(key) else { return false }
        keys.append(key)
        if !places.isEmpty {
            places[key] = keys.count - 1
        } else if keys.count > Self.few {
            places = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
        }
        return true
    }

    /// Several at once, which take no more memory than they need.
    mutating func insert(_ several: [SlotKey<Value>]) {
        if several.count > keys.count { keys.reserveCapacity(keys.count + several.count) }
        for key in several { insert(key) }
    }

    /// The last takes the place of the one that goes.
    ///
    /// - Returns: false if it was not there.
    @discardableResult
    mutating func remove(_ key: SlotKey<Value>) -> Bool {
        guard let place = place(of: key) else { return false }
        let last = keys.removeLast()
        places[key] = nil
        guard last != key else { return true }
        keys[place] = last
        if !places.isEmpty { places[last] = place }
        return true
    }

    private func place(of key: SlotKey<Value>) -> Int? {
        places.isEmpty ? keys.firstIndex(of: key) : places[key]
    }
}
