// A set of sessions or watches that may be large: adding or removing one costs the same at any size.

/// Unique elements in a deterministic order: the same events always give the same order.
struct IndexedSet<Element: Hashable> {
    private static var few: Int { 64 }

    private(set) var elements: [Element] = []
    /// The index of each element, once there are many. With few elements, a linear search is as fast.
    private var places: [Element: Int] = [:]

    var isEmpty: Bool { elements.isEmpty }

    func contains(_ element: Element) -> Bool { place(of: element) != nil }

    /// - Returns: false if the element was already present.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        guard !contains(element) else { return false }
        elements.append(element)
        if !places.isEmpty {
            places[element] = elements.count - 1
        } else if elements.count > Self.few {
            places = Dictionary(uniqueKeysWithValues: zip(elements, elements.indices))
        }
        return true
    }

    /// Adds several elements at once, with one reservation of the memory they need.
    mutating func insert(_ several: [Element]) {
        if several.count > elements.count { elements.reserveCapacity(elements.count + several.count) }
        for element in several { insert(element) }
    }

    /// Removes an element; the last element moves to its index.
    ///
    /// - Returns: false if the element was not present.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let place = place(of: element) else { return false }
        let last = elements.removeLast()
        places[element] = nil
        guard last != element else { return true }
        elements[place] = last
        if !places.isEmpty { places[last] = place }
        return true
    }

    private func place(of element: Element) -> Int? {
        places.isEmpty ? elements.firstIndex(of: element) : places[element]
    }
}
