import TestSupport

extension [UInt8] {
    /// Changes, removes or adds something, so that the result is almost correct JSON.
    mutating func mutate(with other: [UInt8], using random: inout SeededGenerator) {
        guard !isEmpty else { return }
        let place = Int.random(in: 0..<count, using: &random)
        let telling = Array(#"{}[]",:\0123456789eE+-.tfnu"#.utf8)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: self[place] = UInt8.random(in: 0...255, using: &random)
        case 1: self[place] = telling.randomElement(using: &random)!
        case 2: remove(at: place)
        case 3: insert(telling.randomElement(using: &random)!, at: place)
        case 4: removeSubrange(place...)
        default: replaceSubrange(place..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
        }
    }
}
